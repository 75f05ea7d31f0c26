/** The version of the page: the path of its entry script. The server names that of its page with every response of the API. */
import { signal } from "@preact/signals";

const header = "x-denrei-page";

/** The version that the browser has loaded. */
export const runningVersion = (): string | null =>
  document.querySelector('script[type="module"][src]')?.getAttribute("src") ?? null;

/** The last other version that the server has named; undefined if it has named none. */
export const newVersion = signal<string | undefined>(undefined);

/** Reads the version of a response. While replicas of two versions respond, the new one stays known. */
export function noteVersion({ headers }: Response): void {
  const served = headers.get(header);
  if (served !== null && served !== runningVersion()) newVersion.value = served;
}
