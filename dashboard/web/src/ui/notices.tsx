/** Notices at the edge of the page, announced to screen readers. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";

interface Notice {
  readonly id: number;
  readonly tone: "good" | "bad";
  readonly text: string;
  /** Path of the screen on which it appeared. */
  readonly path: string;
}

const notices = signal<readonly Notice[]>([]);
let last = 0;

/** How long a success notice stays, in milliseconds. */
const goodMillis = 6000;

/** Shows a notice. Errors stay until the user closes them or leaves the screen. */
export function notify(tone: Notice["tone"], text: string): void {
  const id = ++last;
  notices.value = [...notices.value, { id, tone, text, path: location.pathname }].slice(-4);
  if (tone === "good") setTimeout(() => close(id), goodMillis);
}

/**
 * Puts a lead such as `Request failed:` in front of a message of Kubernetes, a schema, or a server. Complete sentences get no lead.
 */
export const withLead = (lead: string, message: string): string =>
  /^[A-Z].*\.$/s.test(message) ? message : `${lead} ${message.replace(/^Invalid (input|value): /, "")}`;

/** Waits for an action of the user and shows its outcome. */
export async function notifyOutcome(work: Promise<unknown>, done: string): Promise<"done" | "failed"> {
  try {
    await work;
    notify("good", done);
    return "done";
  } catch (error) {
    notify("bad", withLead("Request failed:", (error as Error).message));
    return "failed";
  }
}

function close(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

/** The area in which notices appear, below those of the children. */
export function Notices({ children }: { children?: ComponentChildren }) {
  const { path } = useLocation();
  useEffect(() => {
    notices.value = notices.value.filter((notice) => notice.tone === "good" || notice.path === path);
  }, [path]);
  return (
    <div class="notices" role="status" aria-live="polite">
      {children}
      {notices.value.map(({ id, tone, text }) => (
        <div key={id} class={`notice ${tone}`}>
          <span>{text}</span>
          <button type="button" class="link" onClick={() => close(id)}>
            Close
          </button>
        </div>
      ))}
    </div>
  );
}
