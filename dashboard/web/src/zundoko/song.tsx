/** The screen of a Hikawa: its song, live. */
import type { Hikawa } from "@denrei/functions/zundoko/kinds";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import { events } from "../api/resource.ts";
import { combineLists, useWatch, type Watched } from "../api/watch.ts";
import { Age } from "../ui/age.tsx";
import { Conditions } from "../ui/conditions.tsx";
import { DeleteButton } from "../ui/deletebutton.tsx";
import { Events } from "../ui/events.tsx";
import { Facts } from "../ui/facts.tsx";
import { Head } from "../ui/head.tsx";
import { ObjectScreen } from "../ui/objectscreen.tsx";
import { Loaded } from "../ui/states.tsx";
import { Health } from "../ui/status.tsx";
import { hikawas, kiyoshis, zundokos } from "./resources.ts";
import { factText, listText, songText as text } from "./text.ts";
import { isWordOf, singersOf, songOf, type Word } from "./words.ts";
import "./song.css";
import type { KubeObject, Stored } from "denrei/kinds";

const trail = ["/zundoko", listText.title] as const;

/** More words would make the page slow. */
const maxShown = 300;

export function Song() {
  const { namespace = "", name = "" } = useRoute().params;
  const [hikawaList, wordList, kiyoshiList, eventList] = useWatch(
    [hikawas, { namespace, fieldSelector: `metadata.name=${name}` }],
    [zundokos, { namespace }],
    [kiyoshis, { namespace }],
    [events, { namespace }],
  );
  const all = combineLists<KubeObject>([wordList, kiyoshiList]);
  return (
    <ObjectScreen watched={hikawaList} kind="Hikawa" name={name} trail={trail}>
      {(hikawa) => (
        <SongOf
          hikawa={hikawa}
          words={{ ...all, items: all.items.filter(isWordOf(hikawa)) }}
          song={songOf(hikawa, wordList.items, kiyoshiList.items)}
          events={<Events watched={eventList} about={new Set([hikawa.metadata.uid])} />}
        />
      )}
    </ObjectScreen>
  );
}

function SongOf({
  hikawa,
  words,
  song,
  events: eventList,
}: {
  hikawa: Stored<Hikawa>;
  /** The list from which the song is made. */
  words: Watched;
  song: readonly Word[];
  events: preact.JSX.Element;
}) {
  const { metadata, spec } = hikawa;
  return (
    <>
      <Head title={metadata.name} trail={trail} status={<Health of={hikawa} />}>
        <DeleteButton resource={hikawas} object={hikawa} consequence={text.consequence} />
      </Head>
      <div class="stack">
        <Words words={words} song={song} />
        <div class="columns">
          <Facts
            title={factText.title}
            of={[
              [factText.namespace, metadata.namespace],
              [
                factText.words,
                words.asOf !== undefined && song.filter(({ say }) => say !== "Kiyoshi!").length,
              ],
              [factText.pause, factText.pauseBetween(spec.intervalMillis)],
              [
                factText.singers,
                song.length > 0 &&
                  singersOf(song).map(([by, words]) => (
                    <div key={by}>
                      <code>{by}</code>, {factText.wordsOf(words)}
                    </div>
                  )),
              ],
              [factText.created, <Age key="created" of={metadata.creationTimestamp} />],
            ]}
          />
          <Conditions of={hikawa} />
        </div>
        {eventList}
      </div>
    </>
  );
}

function Words({ words, song }: { words: Watched; song: readonly Word[] }) {
  const [isAloud, setAloud] = useState(false);
  const spoken = useMemo(() => song, [song.map(({ name }) => name).join()]);
  useVoice(spoken, isAloud ? "aloud" : "silent");
  const before = Math.max(0, song.length - maxShown);
  return (
    <section class="card" aria-labelledby="song">
      <header>
        <h2 id="song">{text.title}</h2>
        <label class="row">
          <input
            type="checkbox"
            checked={isAloud}
            disabled={!canSpeak}
            onChange={({ currentTarget }) => setAloud(currentTarget.checked)}
          />
          {text.readAloud}
          {!canSpeak && <span class="quiet small">{text.cannotSpeak}</span>}
        </label>
      </header>
      {before > 0 && <p class="quiet small">{text.earlier(before)}</p>}
      <div role="log" aria-label={text.words}>
        <Loaded watched={words} empty={<p>{text.none}</p>}>
          {() => (
            <ol class="song">
              {song.slice(before).map(({ name, say, by }) => (
                <li key={name} data-say={say}>
                  <strong>{say}</strong>
                  {/* Hidden from screen readers, which would read it with each word; the facts list the singers. */}
                  <span class="small quiet" aria-hidden="true">
                    {by}
                  </span>
                </li>
              ))}
            </ol>
          )}
        </Loaded>
      </div>
    </section>
  );
}

/** Whether the browser can speak: https://developer.mozilla.org/docs/Web/API/SpeechSynthesis */
const canSpeak = "speechSynthesis" in window && "SpeechSynthesisUtterance" in window;

/** Speaks new words while `mode` is `aloud`. */
function useVoice(song: readonly Word[], mode: "aloud" | "silent"): void {
  const heard = useRef(new Set<string>());
  useEffect(() => {
    const newWords = song.filter(({ name }) => !heard.current.has(name));
    for (const { name } of newWords) heard.current.add(name);
    if (mode === "silent" || !canSpeak) return;
    for (const { say } of newWords) {
      const utterance = new SpeechSynthesisUtterance(say);
      utterance.lang = "ja";
      speechSynthesis.speak(utterance);
    }
  }, [song, mode]);
  useEffect(() => {
    if (mode === "silent" || !canSpeak) return;
    return () => speechSynthesis.cancel();
  }, [mode]);
}
