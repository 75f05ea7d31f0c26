/** The value of a variable. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { type Assignment, pastedVariables } from "./dotenv.ts";

/** An input, or a text area once the value has several lines, which an input would join. */
export function ValueInput({
  value,
  change,
  paste,
  ...attributes
}: {
  value: string;
  change: (value: string) => void;
  paste: (pasted: readonly Assignment[]) => void;
  readonly [attribute: string]: unknown;
}) {
  const isLong = useRef(false);
  isLong.current ||= value.includes("\n");
  const area = useRef<HTMLTextAreaElement>(null);
  const isPasting = useRef(false);
  useLayoutEffect(() => {
    if (isPasting.current) area.current?.focus();
    isPasting.current = false;
  }, [isLong.current]);
  const onInput = ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
    change(currentTarget.value);
  if (isLong.current) return <textarea {...attributes} ref={area} rows={3} value={value} onInput={onInput} />;
  return (
    <input
      {...attributes}
      value={value}
      onInput={onInput}
      onPaste={(event) => {
        const text = event.clipboardData?.getData("text") ?? "";
        const pasted = pastedVariables(text, "value");
        const isText = value === "" && text.trimEnd().includes("\n");
        if (pasted === undefined && !isText) return;
        event.preventDefault();
        if (pasted) return paste(pasted);
        isPasting.current = true;
        change(text.trimEnd());
      }}
    />
  );
}
