/** The state of a form, validated with the schema of the CRD before the API server validates it. */
import { useState } from "preact/hooks";
import type { z } from "zod";
import type { FieldProblem } from "../../api/message.ts";
import { RequestError } from "../../api/session.ts";
import { withLead } from "../lead.ts";
import { type Path, pathText, pathWithoutEmpty, valueAt, withoutEmpty, withValueAt } from "./draft.ts";
import { focusProblem } from "./focus.ts";
import { type BaseVersion, forgetDraft, saveDraft, savedDraft } from "./saveddraft.ts";
import { text } from "./text.ts";
import { check, sentenceOf } from "./validation.ts";

/** A form being edited. */
export interface Form {
  /** The input at a path, or undefined. */
  value(path: Path): unknown;
  set(path: Path, value: unknown): void;
  /** The first problem at or below a path. Empty until the first attempt to send. */
  problem(path: Path): string | undefined;
  /** The first problem of the value itself, not of its parts. */
  ownProblem(path: Path): string | undefined;
  /** Problems of fields that the form does not show. */
  readonly problems: readonly string[];
  readonly isSending: boolean;
  /** Whether it started with unsaved input of an earlier visit. */
  readonly isRestored: boolean;
  /** Handler for `onSubmit`. */
  submit(event: Event): void;
  /** Discards the input and starts with the initial values. */
  startOver(): void;
}

/** Options of a form. */
export interface FormOptions {
  readonly initial: unknown;
  /** The version that is edited. Not set for new objects. */
  readonly base?: BaseVersion;
  /** Schema of the whole draft, such as `{ metadata, spec }`. */
  readonly schema: z.ZodType;
  /** Paths of the shown fields. Problems of other fields appear above the send button. */
  readonly fields: readonly Path[];
  /** Sends the draft without empty values. A `RequestError` appears next to the fields it names. */
  send(draft: unknown): Promise<void>;
  /** Called when the user changes something. */
  onChange?(): void;
  /** Mounts the form again. */
  restart(): void;
}

/** Creates the state of a form. */
export function useForm({ initial, base, schema, fields, send, onChange, restart }: FormOptions): Form {
  const [saved] = useState(savedDraft);
  const [draft, setDraft] = useState(saved === undefined ? initial : saved.draft);
  const [found, setFound] = useState<readonly FieldProblem[]>([]);
  const [wasSent, setWasSent] = useState(false);
  const [isSending, setSending] = useState(false);
  const shown = fields.map(pathText);

  const isShown = ({ field }: FieldProblem): boolean => shown.some((path) => isWithin(field, path));

  async function trySend(): Promise<void> {
    const cleaned = withoutEmpty(draft) ?? {};
    const problems = check(schema, cleaned);
    setWasSent(true);
    setFound(problems);
    if (problems.length > 0) return focusProblem();
    setSending(true);
    const address = location.pathname;
    // The user may leave before the response arrives: only an error brings the input back.
    forgetDraft(address);
    try {
      await send(cleaned);
    } catch (error) {
      saveDraft({ draft, base }, address);
      if (!(error instanceof RequestError)) throw error;
      const { fields: named } = error;
      setFound(
        named.length > 0
          ? named.map((problem) => ({ ...problem, message: sentenceOf(problem) }))
          : [{ field: "", message: withLead(text.notSaved, error) }],
      );
      focusProblem();
    } finally {
      setSending(false);
    }
  }

  function problem(path: Path, isAt: (field: string, path: string) => boolean): string | undefined {
    const sent = pathWithoutEmpty(draft, path);
    if (sent === undefined) return undefined;
    const at = pathText(sent);
    return found.find(({ field }) => isAt(field, at))?.message;
  }

  return {
    value: (path) => valueAt(draft, path),
    set(path, value) {
      const next = withValueAt(draft, path, value);
      setDraft(next);
      saveDraft({ draft: next, base });
      onChange?.();
      if (wasSent) setFound(check(schema, withoutEmpty(next) ?? {}));
    },
    problem: (path) => problem(path, isWithin),
    ownProblem: (path) => problem(path, (field, own) => field === own),
    problems: found
      .filter((problem) => !isShown(problem))
      .map(({ field, message }) => (field ? `${field}: ${message}` : message)),
    isSending,
    isRestored: saved !== undefined,
    startOver() {
      forgetDraft();
      restart();
    },
    submit(event) {
      event.preventDefault();
      if (!isSending) void trySend();
    },
  };
}

const isWithin = (field: string, path: string): boolean =>
  field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`);
