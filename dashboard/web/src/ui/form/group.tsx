/** Groups of controls. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { text } from "./text.ts";

/** The hint and problem of a field. */
export function About({
  id,
  hint,
  problem,
}: {
  id: string;
  hint: ComponentChildren;
  problem: string | undefined;
}) {
  return (
    <div id={id}>
      {hint && <p class="hint">{hint}</p>}
      {problem && <p class="problem">{problem}</p>}
    </div>
  );
}

/** A labeled group of controls. */
export function Group({
  label,
  hint,
  problem,
  children,
}: {
  label: string;
  hint?: ComponentChildren;
  problem?: string | undefined;
  children: ComponentChildren;
}) {
  const id = useId();
  const isProblem = problem !== undefined;
  const isDescribed = isProblem || Boolean(hint);
  return (
    <fieldset
      aria-describedby={isDescribed ? id : undefined}
      tabIndex={isProblem ? -1 : undefined}
      data-problems={isProblem || undefined}
    >
      <legend>{label}</legend>
      {isDescribed && <About id={id} hint={hint} problem={problem} />}
      {children}
    </fieldset>
  );
}

/** Rarely used fields, folded until the user opens them or one has a problem. */
export function More({ what, children }: { what: string; children: ComponentChildren }) {
  return (
    <details>
      <summary>{text.more(what)}</summary>
      <div class="stack">{children}</div>
    </details>
  );
}
