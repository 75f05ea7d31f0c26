/** Server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html */
import { loadSession, session } from "./session.ts";

/** Options of a stream. */
export interface StreamOptions {
  /** Called whenever the page opens the stream. A reconnect by the browser itself uses the previous address. */
  readonly address: () => string;
  /** Handlers by event name. Data is JSON. */
  readonly on: Readonly<Record<string, (data: never, id: string) => void>>;
  readonly opened: () => void;
  /** Called when the stream broke or was refused. It reopens while the session lasts. */
  readonly broken: () => void;
}

const retryMillis = 2000;

/** Opens a stream. The returned function closes it. */
export function openStream({ address, on, opened, broken }: StreamOptions): () => void {
  let source: EventSource | undefined;
  let timer = 0;
  let isCanceled = false;
  let isReopened = false;

  function open(): void {
    source = new EventSource(address());
    for (const [event, take] of Object.entries(on))
      source.addEventListener(event, ({ data, lastEventId }: MessageEvent<string>) =>
        take(JSON.parse(data) as never, lastEventId),
      );
    source.onopen = () => {
      opened();
      // The server may be a new version now. A script cannot read the headers of a stream.
      if (isReopened) void loadSession();
      isReopened = false;
    };
    source.onerror = () => {
      broken();
      // The browser reopens a broken stream, but not a refused one.
      isReopened = source?.readyState !== EventSource.CLOSED;
      if (!isReopened) void again();
    };
  }

  async function again(): Promise<void> {
    await loadSession();
    if (!isCanceled && typeof session.value === "object") timer = setTimeout(open, retryMillis);
  }

  open();
  return () => {
    isCanceled = true;
    clearTimeout(timer);
    source?.close();
  };
}
