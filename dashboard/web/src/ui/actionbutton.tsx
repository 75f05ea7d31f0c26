/** Buttons and links that are disabled if the user may not do what they do. */
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

/** The reason why the user may not do it; undefined as long as the user may try. */
function useRefusal(needs: Action | undefined): string | undefined {
  const may = useMay(needs);
  return may || needs === undefined ? undefined : reasonOf(needs);
}

/** A disabled button or link. It stays focusable, and says why it does nothing. */
function Unavailable({
  reason,
  children,
  ...rest
}: {
  reason: string;
  class?: string | undefined;
  role?: "link";
  children: ComponentChildren;
}) {
  const id = useId();
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

/** A button for an action. Without the right to it, the button stays focusable and says why it does nothing. */
export function ActionButton({
  needs,
  onClick,
  type = "button",
  unavailable,
  disabled,
  isBusy,
  ...rest
}: {
  /** Undefined while the target is unknown. */
  needs: Action | undefined;
  /** Not called without the right. */
  onClick?: () => void;
  type?: "button" | "submit";
  class?: string | undefined;
  /** Why the action is impossible right now, in a sentence that the button shows. */
  unavailable?: string | undefined;
  /** For other reasons than a missing right, which the screen shows. */
  disabled?: boolean;
  /** Disabled for a moment: it keeps the focus. */
  isBusy?: boolean;
  children: ComponentChildren;
}) {
  const refusal = useRefusal(needs) ?? unavailable;
  if (refusal !== undefined) return <Unavailable {...rest} reason={refusal} />;
  return (
    <button {...rest} type={type} disabled={disabled} aria-disabled={isBusy || undefined} onClick={onClick} />
  );
}

/** A link to a form. Without the right to what the form does, the link stays focusable and says why it leads nowhere. */
export function ActionLink({
  needs,
  to,
  ...rest
}: {
  /** Undefined while the namespace is unknown: the form asks for it. */
  needs: Action | undefined;
  to: string;
  class?: string;
  children: ComponentChildren;
}) {
  const refusal = useRefusal(needs);
  if (refusal === undefined) return <a {...rest} href={to} />;
  return <Unavailable {...rest} class={rest.class ?? "link"} role="link" reason={refusal} />;
}
