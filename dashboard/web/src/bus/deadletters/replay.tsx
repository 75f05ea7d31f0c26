/** Replays of dead letters. */
import { useId, useState } from "preact/hooks";
import type { DeadLetterItem, Replayed } from "../../../../api/bus.ts";
import { RequestError, request } from "../../api/session.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { withLead } from "../../ui/lead.ts";
import { notify } from "../../ui/notices.tsx";
import { deadLetterPath } from "../addresses.ts";
import { replayText as text } from "./text.ts";

/** A button that replays dead letters after a confirmation. Disabled with a reason if the user may replay none of them. */
export function Replay({
  deadLetters,
  label,
  onDone,
}: {
  deadLetters: readonly DeadLetterItem[];
  label: string;
  /** Called if at least one was replayed. */
  onDone: () => void;
}) {
  const [isConfirming, setConfirming] = useState(false);
  const why = useId();
  const allowed = deadLetters.filter(({ mayReplay }) => mayReplay);
  const isAllowed = allowed.length > 0;
  return (
    <div class="replay">
      <button
        type="button"
        class="primary"
        disabled={!isAllowed}
        aria-describedby={isAllowed ? undefined : why}
        onClick={() => setConfirming(true)}
      >
        {label}
      </button>
      {!isAllowed && (
        <p id={why} class="quiet small">
          {text.denied(namespacesOf(deadLetters))} <code>deadletters/replay</code> {text.deniedRole}{" "}
          <code>edit</code> {text.deniedEnd}
        </p>
      )}
      {isConfirming && (
        <Question
          deadLetters={allowed}
          left={deadLetters.length - allowed.length}
          onClose={() => setConfirming(false)}
          onDone={onDone}
        />
      )}
    </div>
  );
}

/** The namespaces of dead letters, each once. */
const namespacesOf = (deadLetters: readonly DeadLetterItem[]): readonly string[] =>
  [...new Set(deadLetters.map(({ object }) => object.namespace || text.cluster))].sort();

function Question({
  deadLetters,
  left,
  onClose,
  onDone,
}: {
  deadLetters: readonly DeadLetterItem[];
  /** Number of dead letters that the user may not replay. */
  left: number;
  onClose: () => void;
  onDone: () => void;
}) {
  const [isSending, setSending] = useState(false);
  const [only] = deadLetters;
  const what = deadLetters.length === 1 && only ? only.object.name : text.several(deadLetters.length);

  async function send(): Promise<void> {
    setSending(true);
    const failures = await replay(deadLetters);
    const done = deadLetters.length - failures.length;
    if (done > 0) {
      notify("good", text.requested(done));
      onDone();
    }
    for (const [message, of] of Map.groupBy(failures, ({ message }) => message))
      notify("bad", withLead(text.failed(of.length), of[0] ?? { message }));
    onClose();
  }

  return (
    <Dialog title={text.title(what)} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <p>
          {text.about(deadLetters.length)} {left > 0 && text.left(left)}
        </p>
        <div class="actions">
          <button type="button" onClick={onClose}>
            {text.cancel}
          </button>
          <button type="submit" class="primary" disabled={isSending}>
            {text.replay}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Replays one at a time, so that hundreds do not block other requests of the page. Resolves with the refusals. */
async function replay(deadLetters: readonly DeadLetterItem[]): Promise<readonly RequestError[]> {
  const failures: RequestError[] = [];
  for (const { function: fn, object } of deadLetters) {
    try {
      await request<Replayed>(`/api/bus${deadLetterPath(fn, object)}/replay`, { method: "POST" });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      failures.push(error);
    }
  }
  return failures;
}
