/** Two tones, each with its start in seconds and its frequency in hertz. */
const TONES = [
  [0, 660],
  [0.12, 880],
] as const;
const TONE_SECONDS = 0.18;
const VOLUME = 0.12;

let context: AudioContext | undefined;

/** Plays the sound of a new message. Browsers play none until the person has clicked or typed. */
export async function playSound(): Promise<void> {
  context ??= new AudioContext();
  if (context.state === 'suspended') await context.resume();
  for (const [after, frequency] of TONES) {
    const start = context.currentTime + after;
    const tone = new OscillatorNode(context, { frequency });
    const volume = new GainNode(context, { gain: VOLUME });
    volume.gain.setValueAtTime(VOLUME, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + TONE_SECONDS);
    tone.connect(volume).connect(context.destination);
    tone.start(start);
    tone.stop(start + TONE_SECONDS);
  }
}
