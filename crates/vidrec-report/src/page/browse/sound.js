// The sound of an opened clip: its track `audio`, of 16-bit numbers at a rate.

/// What plays the sound of a clip, if it has any. A browser plays at most so many numbers at once.
async function soundOf(clip) {
  const MOST = 64 << 20, RATES = [3000, 768_000], CHANNELS = 32;
  const track = (await clip.tracks()).find(({ name, type, timing, fault }) => name === "audio" && type === "i16" && timing === "rate" && !fault);
  const canPlay = track?.count && track.count * track.width <= MOST && track.rate >= RATES[0] && track.rate <= RATES[1] && track.width <= CHANNELS;
  if (!canPlay) return null;
  const context = new AudioContext();
  const buffer = context.createBuffer(track.width, track.count, track.rate);
  for (let channel = 0; channel < track.width; channel += 1) {
    const out = buffer.getChannelData(channel);
    for (let i = 0; i < track.count; i += 1) out[i] = track.values[i * track.width + channel] / 32768;
  }
  let running = null;
  return {
    /// Plays from a time of the clip on.
    start(time) {
      running?.stop();
      running = context.createBufferSource();
      running.buffer = buffer;
      running.connect(context.destination);
      const into = time - track.first;
      context.resume();
      running.start(context.currentTime + Math.max(-into, 0), Math.max(into, 0));
    },
    stop() {
      running?.stop();
      running = null;
    },
    close: () => context.close(),
  };
}
