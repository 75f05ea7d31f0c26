/** Focus of fields with problems. */

/** Moves the focus to a field or group, and unfolds the section around it. */
export function focusField(element: HTMLElement): void {
  element.closest("details")?.setAttribute("open", "");
  element.focus();
}

/** Moves the focus to the first problem and unfolds all sections with problems. */
export function focusProblem(): void {
  requestAnimationFrame(() => {
    const wrong = document.querySelectorAll<HTMLElement>('[aria-invalid="true"], [data-problems]');
    for (const field of wrong) field.closest("details")?.setAttribute("open", "");
    wrong[0]?.focus();
  });
}
