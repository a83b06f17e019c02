// Records of a record file (.rec): how a JPEG is taken out of one.

const RECORD_MAGIC = 0xced7230a;
/// Bytes of a record before its data, and of its payload before the JPEG.
const FRAMING = 8, RECORD_HEADER = 24;
/// How much longer a record may be than the page asks for at first: labels, and parts.
const SLACK = 256;

/// The bytes that the record of a frame takes, as vidrec writes it.
const recordBytes = (frame) => FRAMING + RECORD_HEADER + Math.ceil(frame.length / 4) * 4;

/// The payload of a record: its parts, and the magic word between each two. `undefined` if the bytes end too early.
function payloadOf(bytes) {
  const view = viewOf(bytes);
  const parts = [];
  for (let at = 0; ;) {
    if (at + FRAMING > bytes.length) return undefined;
    check(view.getUint32(at, true) === RECORD_MAGIC, "a record does not begin with the magic word");
    const word = view.getUint32(at + 4, true);
    const [flag, length] = [word >>> 29, word & 0x1fffffff];
    check(parts.length ? flag === 2 || flag === 3 : flag === 0 || flag === 1, "the parts of a record are out of order");
    if (at + FRAMING + length > bytes.length) return undefined;
    if (parts.length) parts.push(Uint8Array.of(0x0a, 0x23, 0xd7, 0xce));
    parts.push(bytes.subarray(at + FRAMING, at + FRAMING + length));
    if (flag === 0 || flag === 3) break;
    at += FRAMING + Math.ceil(length / 4) * 4;
  }
  if (parts.length === 1) return parts[0];
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => {
    whole.set(part, at);
    return at + part.length;
  }, 0);
  return whole;
}

/// The JPEG of a frame in the bytes of its record, proven by its checksum. `undefined` if the bytes end too early.
function jpegOf(bytes, frame) {
  const payload = payloadOf(bytes);
  if (!payload) return undefined;
  check(payload.length >= RECORD_HEADER, "a record is too short for its header");
  const begin = RECORD_HEADER + 4 * viewOf(payload).getUint32(0, true);
  check(payload.length - begin === frame.length, "the JPEG is not as long as the index says");
  const jpeg = payload.subarray(begin);
  check(crc32(jpeg) === frame.crc, "the CRC-32 of the JPEG does not match");
  return jpeg;
}
