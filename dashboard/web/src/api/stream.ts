/** Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html */
import { loadSession, session } from "./session.ts";

/** What is listened to. */
export interface StreamOptions {
  /** Asked for whenever the page opens the stream; a browser that opens it again itself does so at the same address. */
  readonly address: () => string;
  /** By the event's name. Data is JSON. */
  readonly on: Readonly<Record<string, (data: never, id: string) => void>>;
  readonly opened: () => void;
  /** It has broken off, or was refused. It is opened again, for as long as there is a session. */
  readonly broken: () => void;
}

const retryMillis = 2000;

/** Listens until the returned function is called. */
export function openStream({ address, on, opened, broken }: StreamOptions): () => void {
  let source: EventSource | undefined;
  let timer = 0;
  let isOver = false;

  function open(): void {
    source = new EventSource(address());
    for (const [event, take] of Object.entries(on))
      source.addEventListener(event, ({ data, lastEventId }: MessageEvent<string>) =>
        take(JSON.parse(data) as never, lastEventId),
      );
    source.onopen = opened;
    source.onerror = () => {
      broken();
      // A stream that broke is opened again by the browser; one that was refused is not.
      if (source?.readyState === EventSource.CLOSED) void again();
    };
  }

  async function again(): Promise<void> {
    await loadSession();
    if (!isOver && typeof session.value === "object") timer = setTimeout(open, retryMillis);
  }

  open();
  return () => {
    isOver = true;
    clearTimeout(timer);
    source?.close();
  };
}
