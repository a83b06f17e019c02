"""Chromium without a window, over its pipe: Debian's package, and nothing from PyPI."""
import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
# Longer than any page takes; a browser that hangs must not hang the tests.
PATIENCE = 60


def program():
    """The browser, if there is one."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """A page in a browser that writes down what it asks for and complains about."""

    def __init__(self, downloads):
        self.home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_read, self.write = os.pipe()
        self.read, to_write = os.pipe()
        # The browser reads commands from descriptor 3 and answers on 4.
        spare = [os.dup2(to_read, 60), os.dup2(to_write, 61)]
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
                     "--remote-debugging-pipe", f"--user-data-dir={self.home.name}", "about:blank"]
        quoted = 'exec 3<&60 4>&61 60<&- 61>&-; exec "$@"'
        self.process = subprocess.Popen(["bash", "-c", quoted, "browser", program(), *arguments], pass_fds=spare,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for descriptor in (to_read, to_write, *spare):
            os.close(descriptor)
        self.ids, self.buffer, self.answers, self.events = itertools.count(1), b"", {}, []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.read)
        os.close(self.write)
        self.home.cleanup()

    def call(self, method, **parameters):
        """The result of a command of the DevTools protocol."""
        number = next(self.ids)
        message = {"id": number, "method": method, "params": parameters}
        if getattr(self, "session", None) and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + PATIENCE
        while number not in self.answers:
            self.receive(until)
        answer = self.answers.pop(number)
        assert "error" not in answer, (method, answer)
        return answer["result"]

    def receive(self, until):
        ready, _, _ = select.select([self.read], [], [], max(until - time.monotonic(), 0))
        assert ready, "the browser does not answer"
        data = os.read(self.read, 1 << 20)
        assert data, "the browser has ended"
        *messages, self.buffer = (self.buffer + data).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.answers[message["id"]] = message
            else:
                self.events.append(message)

    def open(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def js(self, expression):
        """The value of an expression in the page; of a promise, what it comes to."""
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, (expression, told["exceptionDetails"])
        return told["result"].get("value")

    def wait(self, expression):
        """Waits until an expression is true."""
        until = time.monotonic() + PATIENCE
        while not self.js(expression):
            assert time.monotonic() < until, f"never true: {expression}"
            time.sleep(0.02)

    def key(self, key, shift=False):
        text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
        code = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        held = {"key": key, "windowsVirtualKeyCode": code.get(key, 0), "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", **held, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **held)

    def size(self, width, height, dark=False, mobile=False, still=False, media=""):
        """The size of the window, and what the reader prefers: a dark page, or one in which nothing moves."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if mobile else 1, mobile=mobile)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        motion = {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme, motion])

    def screenshot(self, path):
        with open(path, "wb") as out:
            out.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def requests(self):
        """What the page asked for, other than itself."""
        asked = [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]

    def complaints(self):
        """Messages on the console, exceptions and violations of the page's policy."""
        wanted = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [e["params"] for e in self.events if e["method"] in wanted]
