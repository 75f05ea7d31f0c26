/** The notice that the server has a newer version of the page. */
import { useState } from "preact/hooks";
import { newVersion } from "../api/pageversion.ts";
import { newVersionText as text } from "./text.ts";

/** Offers to reload, until the user closes it. Forms restore their input, and a modal dialog makes the button inert. */
export function NewVersion() {
  const [closed, setClosed] = useState<string>();
  const version = newVersion.value;
  if (version === undefined || version === closed) return null;
  return (
    <div class="notice">
      <span>{text.available}</span>
      <span class="row">
        <button type="button" onClick={() => location.reload()}>
          {text.reload}
        </button>
        <button type="button" class="link" onClick={() => setClosed(version)}>
          {text.close}
        </button>
      </span>
    </div>
  );
}
