/** What has come of something that somebody did, said at the edge of the page and to screen readers. */
import { signal } from "@preact/signals";

interface Notice {
  readonly id: number;
  readonly tone: "good" | "bad";
  readonly text: string;
}

const notices = signal<readonly Notice[]>([]);
let last = 0;

/** What went well needs to be seen for a moment only. Milliseconds. */
const goodMillis = 6000;

/** Says something. Trouble stays until it is closed. */
export function notify(tone: Notice["tone"], text: string): void {
  const id = ++last;
  notices.value = [...notices.value, { id, tone, text }].slice(-4);
  if (tone === "good") setTimeout(() => close(id), goodMillis);
}

function close(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

/** Where it is said. */
export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
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
