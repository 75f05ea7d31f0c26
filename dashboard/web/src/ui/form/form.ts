/** A form for an object: checked by the schema that its CRD is made of before the API server checks it, and then by that. */
import { useState } from "preact/hooks";
import type { z } from "zod";
import { type FieldProblem, RequestError } from "../../api/session.ts";
import { type Path, pathText, valueAt, withoutEmpty, withValueAt } from "./draft.ts";
import { useKeptDraft } from "./kept.ts";

/** A form under way. */
export interface Form {
  /** What was typed at a path; undefined where nothing was. */
  value(path: Path): unknown;
  set(path: Path, value: unknown): void;
  /** What is wrong at a path or below it, once somebody has tried to send it. */
  problem(path: Path): string | undefined;
  /** What is wrong with no field of the form in particular. */
  readonly problems: readonly string[];
  readonly isSending: boolean;
  /** For `onSubmit`. */
  submit(event: Event): void;
}

/** What a form is made with. */
export interface FormOptions {
  readonly initial: unknown;
  /** What it is a change of, such that another text is another base; nothing for what is new. */
  readonly base?: string;
  /** Of the whole draft: `{ metadata, spec }`, say. */
  readonly schema: z.ZodType;
  /** The paths of the fields that are shown; what is wrong elsewhere is said above them. */
  readonly fields: readonly Path[];
  /** Sends it, without what is empty. A `RequestError` of it is shown next to the fields that it names. */
  send(draft: unknown): Promise<void>;
}

/** Begins a form. */
export function useForm({ initial, base = "", schema, fields, send }: FormOptions): Form {
  const [draft, setDraft] = useKeptDraft(initial, base);
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
    try {
      await send(cleaned);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      const { fields: named, message } = error;
      setFound(named.length > 0 ? named : [{ field: "", message }]);
      focusProblem();
    } finally {
      setSending(false);
    }
  }

  return {
    value: (path) => valueAt(draft, path),
    set(path, value) {
      const next = withValueAt(draft, path, value);
      setDraft(next);
      if (wasSent) setFound(check(schema, withoutEmpty(next) ?? {}));
    },
    problem: (path) => {
      const text = pathText(path);
      return found.find(({ field }) => isWithin(field, text))?.message;
    },
    problems: found
      .filter((problem) => !isShown(problem))
      .map(({ field, message }) => (field ? `${field}: ${message}` : message)),
    isSending,
    submit(event) {
      event.preventDefault();
      void trySend();
    },
  };
}

const isWithin = (field: string, path: string): boolean =>
  field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`);

/** What is none of several says nothing of itself; the last of them is the one that people type. */
const told = (issue: z.core.$ZodIssue): Pick<z.core.$ZodIssue, "path" | "message"> => {
  const of = issue.code === "invalid_union" ? issue.errors.at(-1)?.[0] : undefined;
  return { path: issue.path, message: of?.message ?? issue.message };
};

function check(schema: z.ZodType, draft: unknown): readonly FieldProblem[] {
  const result = schema.safeParse(draft);
  if (result.success) return [];
  return result.error.issues.map(told).map(({ path, message }) => ({
    field: pathText(path as Path),
    message: message.endsWith("received undefined") ? "This is needed." : message,
  }));
}

/** Whoever can not see the form is led to what is wrong with it, which is unfolded. */
function focusProblem(): void {
  requestAnimationFrame(() => {
    const wrong = document.querySelectorAll<HTMLElement>('[aria-invalid="true"], [data-problems]');
    for (const field of wrong) field.closest("details")?.setAttribute("open", "");
    wrong[0]?.focus();
  });
}
