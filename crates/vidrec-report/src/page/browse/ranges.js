// Ranges of files on a web server. What is asked for at once and lies together is one request.

/// The most requests at a time: browsers send no more to a server.
const IN_FLIGHT = 6;
/// Ranges with less between them are one request, of at most so many bytes.
const NEAR = 16 << 10, MOST = 4 << 20;

/// Nobody wants the answer any more.
class Dropped extends Error {}

const requests = (() => {
  let waiting = [], running = 0, isPlanned = false;

  async function fetched(url, begin, end) {
    let answer;
    try {
      answer = await fetch(url, { headers: { Range: `bytes=${begin}-${end - 1}` }, credentials: "same-origin" });
    } catch (e) {
      throw new Error(`${fileName(url)}: the server cannot be reached (${e.message}); is it still running?`);
    }
    if (answer.status === 200) {
      answer.body?.cancel();
      throw new Error(`${fileName(url)}: this web server sends whole files only. The page needs one that answers requests for ranges (Range: bytes=…), as object storage, nginx and Apache do.`);
    }
    if (answer.status !== 206) throw new Error(`${fileName(url)}: the server answers ${answer.status} ${answer.statusText}`.trim());
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const told = answer.headers.get("Content-Range");
    const isAsked = told === null || told.startsWith(`bytes ${begin}-${end - 1}/`);
    check(bytes.length === end - begin && isAsked, `${fileName(url)}: the file is shorter than the data set says`);
    return bytes;
  }

  /// The ranges of the newest request that is still wanted, and those that go with it.
  function next() {
    for (const one of waiting.filter((one) => !one.isWanted())) one.fail(new Dropped());
    waiting = waiting.filter((one) => one.isWanted());
    const newest = waiting.at(-1);
    if (!newest) return null;
    const others = waiting.filter((one) => one.url === newest.url).sort((a, b) => a.begin - b.begin);
    let first = others.indexOf(newest), last = first, { begin, end } = newest;
    while (first > 0 && begin - others[first - 1].end <= NEAR && end - others[first - 1].begin <= MOST) begin = Math.min(begin, others[first -= 1].begin);
    while (last + 1 < others.length && others[last + 1].begin - end <= NEAR && others[last + 1].end - begin <= MOST) end = Math.max(end, others[last += 1].end);
    const taken = others.slice(first, last + 1);
    for (const one of taken) end = Math.max(end, one.end);
    waiting = waiting.filter((one) => !taken.includes(one));
    return { url: newest.url, begin, end, taken };
  }

  function send() {
    isPlanned = false;
    while (running < IN_FLIGHT) {
      const request = next();
      if (!request) return;
      running += 1;
      fetched(request.url, request.begin, request.end).then(
        (bytes) => { for (const one of request.taken) one.succeed(bytes.subarray(one.begin - request.begin, one.end - request.begin)); },
        (e) => { for (const one of request.taken) one.fail(e); },
      ).finally(() => {
        running -= 1;
        plan();
      });
    }
  }

  /// Sends after everybody has asked who does so now.
  function plan() {
    if (isPlanned) return;
    isPlanned = true;
    setTimeout(send, 0);
  }

  /// The bytes of a range; an error that is `Dropped` if it is no longer wanted when its turn comes.
  function read(url, begin, end, isWanted = () => true) {
    if (begin === end) return Promise.resolve(new Uint8Array(0));
    return new Promise((succeed, fail) => {
      waiting.push({ url, begin, end, isWanted, succeed, fail });
      plan();
    });
  }

  return { read };
})();
