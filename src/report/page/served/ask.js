// Requests to the server that the page comes from.

/// What the server has found to be damaged. The message is for people.
class Damaged extends Error {}
/// What nobody waits for any more.
class Dropped extends Error {}

const asks = (() => {
  const AT_ONCE = 6;
  const waiting = [];
  let running = 0;

  /// What `read` makes of the answer to a request; `Dropped` if nobody wants it any more when its turn comes.
  function get(path, read = (answer) => answer.json(), isWanted = () => true) {
    return new Promise((succeed, fail) => {
      waiting.push({ path, read, isWanted, succeed, fail });
      // Not before who asks has what the answer is for.
      queueMicrotask(next);
    });
  }

  function next() {
    while (running < AT_ONCE && waiting.length) {
      const one = waiting.shift();
      if (!one.isWanted()) {
        one.fail(new Dropped());
        continue;
      }
      running += 1;
      send(one).then(one.succeed, one.fail).finally(() => {
        running -= 1;
        next();
      });
    }
  }

  async function send({ path, read }) {
    let answer;
    try {
      answer = await fetch(path);
    } catch {
      throw new Error("the server of this page does not answer: run vidrec browse again, and open the address that it prints");
    }
    if (answer.ok) return read(answer);
    const why = (await answer.text()).trim();
    throw answer.status === 422 ? new Damaged(why) : new Error(why);
  }

  return { get };
})();

/// Says what went wrong, until something else does.
function trouble(e) {
  if (e instanceof Dropped) return;
  const said = byId("trouble") ?? el("p", { id: "trouble", class: "notice", role: "alert" });
  said.textContent = e.message;
  byId("main").prepend(said);
}
