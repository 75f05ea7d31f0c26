/** Replays of dead letters. */
import { useId, useState } from "preact/hooks";
import type { DeadLetterItem, Replayed } from "../../../../api/bus.ts";
import { RequestError, request } from "../../api/session.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { notify, withLead } from "../../ui/notices.tsx";
import { deadLetterPath } from "../addresses.ts";
import { plural } from "../numbers.ts";

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
          You cannot replay dead letters {namesOf(deadLetters)}. You need the right to create{" "}
          <code>deadletters/replay</code> there, which the role <code>edit</code> includes.
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

/** The namespaces of dead letters: `in team-a and team-b`. */
function namesOf(deadLetters: readonly DeadLetterItem[]): string {
  const names = [...new Set(deadLetters.map(({ object }) => object.namespace || "the cluster"))].sort();
  return `in ${new Intl.ListFormat("en-US").format(names)}`;
}

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
  const what =
    deadLetters.length === 1 && only ? only.object.name : plural(deadLetters.length, "dead letter");

  async function send(): Promise<void> {
    setSending(true);
    const failures = await replay(deadLetters);
    const done = deadLetters.length - failures.length;
    if (done > 0) {
      notify("good", `Requested ${done === 1 ? "the reconcile" : plural(done, "reconcile")}.`);
      onDone();
    }
    for (const [message, of] of Map.groupBy(failures, ({ message }) => message))
      notify("bad", withLead(`Cannot replay ${plural(of.length, "dead letter")}:`, message));
    onClose();
  }

  return (
    <Dialog title={`Replay ${what}?`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <p>
          {deadLetters.length === 1 ? "The object is" : "The objects are"} reconciled again in the current
          state. If it fails again, it becomes a dead letter again.{" "}
          {left > 0 && ` You cannot replay ${plural(left, "other")}.`}
        </p>
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isSending}>
            Replay
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
