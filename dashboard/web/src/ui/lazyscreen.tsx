/** Screens that are loaded on first use, and what the page shows if that fails. */
import type { FunctionComponent } from "preact";
import { useEffect, useState } from "preact/hooks";
import { lazy } from "preact-iso";
import { runningVersion } from "../api/pageversion.ts";
import { Head } from "./head.tsx";
import { Loading } from "./states.tsx";
import { screenText as text } from "./text.ts";

type Load = () => Promise<FunctionComponent>;

/** A screen that the router shows once it is loaded. If it cannot be loaded, it shows why and tries again on request. */
export const lazyScreen = (load: Load): FunctionComponent =>
  lazy(async () => {
    try {
      return await load();
    } catch {
      return () => <LoadAgain load={load} />;
    }
  });

type Outcome = "loading" | "offline" | "failed" | { readonly screen: FunctionComponent };

function LoadAgain({ load }: { load: Load }) {
  const [outcome, setOutcome] = useState<Outcome>("loading");
  useEffect(() => {
    if (outcome === "loading") void loadOrReload(load).then(setOutcome);
  }, [outcome]);
  if (typeof outcome === "object") return <outcome.screen />;
  return (
    <>
      <Head title={text.notLoaded} />
      {outcome === "loading" ? (
        <Loading />
      ) : (
        <div role="alert" class="empty">
          <p>{text[outcome]}</p>
          <div class="actions">
            <button type="button" class="primary" onClick={() => setOutcome("loading")}>
              {text.retry}
            </button>
            <button type="button" onClick={() => location.reload()}>
              {text.reload}
            </button>
          </div>
        </div>
      )}
    </>
  );
}

/** Loads the screen. A new version of the dashboard no longer has the files of this one, so the page is loaded again. */
async function loadOrReload(load: Load): Promise<Outcome> {
  try {
    return { screen: await load() };
  } catch {
    const served = await servedVersion();
    if (served === undefined) return "offline";
    if (served === runningVersion() || wasReloadedFor(served)) return "failed";
    location.reload();
    return "loading";
  }
}

const entryScript = /src="(\/assets\/[^"]+\.js)"/;

/** The entry script of the page that the server has now; undefined if the server does not respond. */
async function servedVersion(): Promise<string | undefined> {
  try {
    return entryScript.exec(await (await fetch("/", { cache: "no-store" })).text())?.[1];
  } catch {
    return undefined;
  }
}

const reloadedFor = "denrei.reloaded";

/** Replicas of two versions may serve one page: a reload that did not help is not repeated. */
function wasReloadedFor(version: string): boolean {
  const was = sessionStorage.getItem(reloadedFor) === version;
  sessionStorage.setItem(reloadedFor, version);
  return was;
}
