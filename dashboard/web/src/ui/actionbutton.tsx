/** Buttons that are disabled if the user may not do what they do. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { type Action, useMay } from "../api/access.ts";
import { notify } from "./notices.tsx";
import { accessText as text } from "./text.ts";

/** The reason why the user may not do it. */
const reasonOf = ({ verb, resource, subresource, namespace }: Action): string =>
  text.denied(
    verb,
    subresource === undefined ? resource.plural : `${resource.plural}/${subresource}`,
    namespace,
  );

/** A button for an action. Without the right to it, the button stays focusable and says why it does nothing. */
export function ActionButton({
  needs,
  onClick,
  type = "button",
  disabled,
  isBusy,
  children,
  ...rest
}: {
  /** Undefined while the target is unknown. */
  needs: Action | undefined;
  /** Not called without the right. */
  onClick?: () => void;
  type?: "button" | "submit";
  class?: string;
  /** For other reasons than a missing right. */
  disabled?: boolean;
  /** Disabled for a moment: it keeps the focus. */
  isBusy?: boolean;
  children: ComponentChildren;
}) {
  const id = useId();
  const may = useMay(needs);
  if (may || needs === undefined)
    return (
      <button {...rest} type={type} disabled={disabled} aria-disabled={isBusy || undefined} onClick={onClick}>
        {children}
      </button>
    );
  const reason = reasonOf(needs);
  return (
    <>
      <button
        {...rest}
        type="button"
        aria-disabled="true"
        aria-describedby={id}
        title={reason}
        onClick={() => notify("bad", reason)}
      >
        {children}
      </button>
      <span id={id} hidden>
        {reason}
      </span>
    </>
  );
}
