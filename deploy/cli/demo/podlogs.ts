/** Simulated container logs of a demo: as if a user requested a page now and then. */
import { appendFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { podLogLine } from "../../local/index.ts";

/** Pause between lines. Milliseconds. */
const paceMillis = 1500;
const pages = ["/", "/products", "/products/42", "/basket", "/healthz"] as const;

/** Appends lines to the file that serves as the log of every container, until `signal` aborts. */
export async function writePodLogs(path: string, signal: AbortSignal): Promise<void> {
  await appendFile(path, podLogLine("listening on 8080"));
  for (let count = 0; !signal.aborted; count++) {
    const page = pages[count % pages.length];
    await appendFile(path, podLogLine(`GET ${page} 200 ${3 + (count % 7)} ms`));
    await sleep(paceMillis, undefined, { signal }).catch(() => undefined);
  }
}
