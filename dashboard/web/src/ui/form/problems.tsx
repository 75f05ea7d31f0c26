/** The problems of a form in one place. */
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { focusField } from "./focus.ts";
import { text } from "./text.ts";

/** A field with a problem, as the page shows it. */
interface InvalidField {
  readonly element: HTMLElement;
  readonly label: string;
  readonly message: string;
}

/**
 * Lists problems that belong to no shown field, and, if there are several, those of the fields, each with a button that moves the focus
 * to its field.
 */
export function Problems({ ofNoField }: { ofNoField: readonly string[] }) {
  const place = useRef<HTMLDivElement>(null);
  const id = useId();
  const [fields, setFields] = useState<readonly InvalidField[]>([]);
  // After each render, because the fields render their own problems.
  useLayoutEffect(() => {
    const form = place.current?.closest("form");
    const found = form ? invalidFields(form) : [];
    if (!isSame(found, fields)) setFields(found);
  });
  const count = ofNoField.length + fields.length;
  return (
    <div ref={place} class="problems">
      {(count > 1 || ofNoField.length > 0) && (
        <section class="notice bad" aria-labelledby={id} tabIndex={-1} data-problems>
          <strong id={id}>{text.problems(count)}</strong>
          <div role="alert">
            {ofNoField.map((problem) => (
              <p key={problem}>{problem}</p>
            ))}
          </div>
          <ul>
            {fields.map(({ element, label, message }, at) => (
              <li key={at}>
                <button type="button" class="link" onClick={() => focusField(element)}>
                  {label}
                </button>
                : {message}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

/** Fields and groups with a problem, in the order of the page. A group counts if none of its fields does. */
function invalidFields(form: HTMLElement): readonly InvalidField[] {
  const elements = [...form.querySelectorAll<HTMLElement>('[aria-invalid="true"], fieldset[data-problems]')];
  return elements
    .filter((element) => !elements.some((inner) => inner !== element && element.contains(inner)))
    .map((element) => ({ element, label: labelOf(element), message: messageOf(element) }));
}

/** The visible label, or the one for assistive technology. */
function labelOf(element: HTMLElement): string {
  const labels = (element as HTMLInputElement).labels;
  const visible = labels?.[0] ?? element.querySelector(":scope > legend");
  return visible?.textContent ?? element.ariaLabel ?? "";
}

/** The problem in the description of the element, or else in that of its group. */
function messageOf(element: HTMLElement): string {
  const id = element.getAttribute("aria-describedby");
  const described = id === null ? null : document.getElementById(id);
  const problem = described?.matches(".problem") ? described : described?.querySelector(".problem");
  return (problem ?? element.closest("fieldset")?.querySelector(".problem"))?.textContent ?? "";
}

const isSame = (some: readonly InvalidField[], others: readonly InvalidField[]): boolean =>
  some.length === others.length &&
  some.every(({ element, label, message }, at) => {
    const other = others[at];
    return other?.element === element && other.label === label && other.message === message;
  });
