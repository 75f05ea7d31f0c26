/** Reading a song aloud, where the browser can: https://developer.mozilla.org/docs/Web/API/SpeechSynthesis */
import { useEffect, useRef } from "preact/hooks";
import type { SaidWord } from "./words.ts";

/** Whether this browser can speak at all. */
export const canSpeak = "speechSynthesis" in window && "SpeechSynthesisUtterance" in window;

/** Speaks new words while `mode` is `aloud`. */
export function useVoice(song: readonly SaidWord[], wanted: "aloud" | "silent"): void {
  const heard = useRef(new Set<string>());
  useEffect(() => {
    const news = song.filter(({ name }) => !heard.current.has(name));
    for (const { name } of news) heard.current.add(name);
    if (wanted === "silent" || !canSpeak) return;
    for (const { say } of news) {
      const utterance = new SpeechSynthesisUtterance(say);
      utterance.lang = "ja";
      speechSynthesis.speak(utterance);
    }
  }, [song, wanted]);
  useEffect(() => {
    if (wanted === "silent" || !canSpeak) return;
    return () => speechSynthesis.cancel();
  }, [wanted]);
}
