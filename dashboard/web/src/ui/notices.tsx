/** Notices at the edge of the page, announced to screen readers. */
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { Message } from "../api/message.ts";
import { withLead } from "./lead.ts";
import { noticeText as text } from "./text.ts";

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
export function notify(tone: Notice["tone"], content: string): void {
  const id = ++last;
  notices.value = [...notices.value, { id, tone, text: content, path: location.pathname }].slice(-4);
  if (tone === "good") setTimeout(() => close(id), goodMillis);
}

/** Shows the error of a request. */
export const notifyFailure = (error: Message): void => notify("bad", withLead(text.requestFailed, error));

/** Waits for an action of the user and shows its outcome. */
export async function notifyOutcome(work: Promise<unknown>, done: string): Promise<"done" | "failed"> {
  try {
    await work;
    notify("good", done);
    return "done";
  } catch (error) {
    notifyFailure(error as Error);
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
      {notices.value.map(({ id, tone, text: content }) => (
        <div key={id} class={`notice ${tone}`}>
          <span>{content}</span>
          <button type="button" class="link" onClick={() => close(id)}>
            {text.close}
          </button>
        </div>
      ))}
    </div>
  );
}
