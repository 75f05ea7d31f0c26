/** Having dead letters tried again. */
import { useId, useState } from "preact/hooks";
import type { DeadLetterItem, Replayed } from "../../../../api/bus.ts";
import { RequestError, request } from "../../api/session.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { notify } from "../../ui/notices.tsx";
import { deadLetterPath } from "../addresses.ts";
import { plural } from "../numbers.ts";

/** A button that asks before it does it. Who may replay none of the letters is told why instead. */
export function Replay({
  letters,
  label,
  onDone,
}: {
  letters: readonly DeadLetterItem[];
  label: string;
  /** Called when at least one was replayed. */
  onDone: () => void;
}) {
  const [isAsking, setAsking] = useState(false);
  const why = useId();
  const allowed = letters.filter(({ mayReplay }) => mayReplay);
  const isAllowed = allowed.length > 0;
  return (
    <div class="replay">
      <button
        type="button"
        class="primary"
        disabled={!isAllowed}
        aria-describedby={isAllowed ? undefined : why}
        onClick={() => setAsking(true)}
      >
        {label}
      </button>
      {!isAllowed && (
        <p id={why} class="quiet small">
          You may not replay {namesOf(letters)}: that takes the right to create{" "}
          <code>deadletters/replay</code> there, which whoever may edit the namespace has.
        </p>
      )}
      {isAsking && (
        <Question
          letters={allowed}
          left={letters.length - allowed.length}
          onClose={() => setAsking(false)}
          onDone={onDone}
        />
      )}
    </div>
  );
}

/** The namespaces of letters: `in team-a and team-b`. */
function namesOf(letters: readonly DeadLetterItem[]): string {
  const names = [...new Set(letters.map(({ object }) => object.namespace || "the cluster"))].sort();
  return `in ${new Intl.ListFormat("en-US").format(names)}`;
}

function Question({
  letters,
  left,
  onClose,
  onDone,
}: {
  letters: readonly DeadLetterItem[];
  /** How many may not be replayed. */
  left: number;
  onClose: () => void;
  onDone: () => void;
}) {
  const [isSending, setSending] = useState(false);
  const [only] = letters;
  const what = letters.length === 1 && only ? only.object.name : plural(letters.length, "dead letter");

  async function send(): Promise<void> {
    setSending(true);
    const failures = await replay(letters);
    const done = letters.length - failures.length;
    if (done > 0) {
      notify("good", `Asked for ${done === 1 ? "the reconcile" : plural(done, "reconcile")} again.`);
      onDone();
    }
    for (const [message, of] of Map.groupBy(failures, ({ message }) => message))
      notify("bad", of.length === 1 ? message : `${plural(of.length, "dead letter")}: ${message}`);
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
          {letters.length === 1 ? "It is" : "They are"} reconciled again, with the object as it is by then.
          What fails again for the same reason becomes a dead letter again.
          {left > 0 && ` ${plural(left, "other")} you may not replay.`}
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

/** One after the other, so that a few hundred do not hinder what else the page asks. Resolves with those that were refused. */
async function replay(letters: readonly DeadLetterItem[]): Promise<readonly RequestError[]> {
  const failures: RequestError[] = [];
  for (const { function: fn, object } of letters) {
    try {
      await request<Replayed>(`/api/bus${deadLetterPath(fn, object)}/replay`, { method: "POST" });
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      failures.push(error);
    }
  }
  return failures;
}
