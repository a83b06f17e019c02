// Blocks of sound in Opus, which the browser decodes: nearly the values that vidrec's own decoder gives.

/// The rates of tracks in Opus.
const OPUS_RATES = [8000, 12_000, 16_000, 24_000, 48_000];
/// The rate at which browsers decode Opus.
const OPUS_RATE = 48_000;

/// The numbers of a track, of these blocks: the bytes of each, and how many values it has.
async function opusNumbers(blocks, channels, rate) {
  check("AudioDecoder" in globalThis, "this browser cannot decode Opus: open the page in a recent Chrome, Edge, Firefox or Safari");
  let [begun, failed] = [[], null];
  const decoder = new AudioDecoder({ output: (data) => begun.push(data), error: (e) => { failed = e.message; } });
  decoder.configure({ codec: "opus", sampleRate: OPUS_RATE, numberOfChannels: channels });
  const all = [];
  try {
    for (const { block, count } of blocks) {
      begun = [];
      opusPackets(block, Math.ceil(count * 50 / rate)).forEach((data, i) => decoder.decode(new EncodedAudioChunk({ type: "key", timestamp: 20_000 * i, data })));
      await decoder.flush();
      all.push(valuesOf(begun, count, channels, OPUS_RATE / rate));
    }
  } catch (e) {
    throw e instanceof Damaged ? e : new Damaged(`the browser does not decode the sound: ${failed ?? e.message}`);
  } finally {
    if (decoder.state !== "closed") decoder.close();
  }
  const out = new Int16Array(all.reduce((sum, numbers) => sum + numbers.length, 0));
  all.reduce((at, numbers) => (out.set(numbers, at), at + numbers.length), 0);
  return new Uint8Array(out.buffer);
}

/// What was decoded, without that of the first packet, at the rate of the track: each `step`-th value.
function valuesOf(decoded, count, channels, step) {
  const out = new Int16Array(count * channels);
  let at = -OPUS_RATE / 50;
  for (const data of decoded) {
    for (let channel = 0; channel < channels; channel += 1) {
      const plane = new Float32Array(data.numberOfFrames);
      data.copyTo(plane, { planeIndex: Math.min(channel, data.numberOfChannels - 1), format: "f32-planar" });
      for (let i = 0; i < plane.length; i += 1) {
        const place = (at + i) / step;
        if (place >= 0 && place < count && Number.isInteger(place)) out[place * channels + channel] = Math.max(-32768, Math.min(32767, Math.round(plane[i] * 32768)));
      }
    }
    at += data.numberOfFrames;
    data.close();
  }
  return out;
}

/// The packets of a block, in their usual framing.
function opusPackets(block, count) {
  const packets = [];
  let at = 0;
  for (let i = 0; i <= count; i += 1) {
    const [head, low, high] = block.subarray(at, at + 3);
    const isLong = low >= 252, start = at + (isLong ? 3 : 2);
    at = start + low + (isLong ? 4 * high : 0);
    check(at <= block.length && (head & 3) === 0, "a packet of sound is not one frame");
    const packet = new Uint8Array(at - start + 1);
    packet[0] = head;
    packet.set(block.subarray(start, at), 1);
    packets.push(packet);
  }
  check(at === block.length, "a block of sound ends late");
  return packets;
}
