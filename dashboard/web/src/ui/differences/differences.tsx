/** What an object asks for, compared with what runs. */
import type { ComponentChildren } from "preact";
import { Status } from "../status.tsx";
import type { Difference, Drift } from "./difference.ts";
import { text } from "./text.ts";

/** A card with the state in a sentence, and a table of the settings that differ. */
export function Differences({
  of: { tone, sentence, differences },
  children,
}: {
  of: Drift;
  /** More sentences. */
  children?: ComponentChildren;
}) {
  return (
    <section class="card" aria-labelledby="differences">
      <header>
        <h2 id="differences">{text.title}</h2>
        <Status tone={tone}>{text.states[tone]}</Status>
      </header>
      <p>{sentence}</p>
      {children}
      {differences.length > 0 && <DifferenceTable of={differences} />}
    </section>
  );
}

function DifferenceTable({ of: differences }: { of: readonly Difference[] }) {
  return (
    <div class="table">
      <table>
        <caption class="unseen">{text.title}</caption>
        <thead>
          <tr>
            <th>{text.setting}</th>
            <th>{text.wanted}</th>
            <th>{text.running}</th>
          </tr>
        </thead>
        <tbody>
          {differences.map(({ setting, wanted, running }) => (
            <tr key={setting}>
              <th scope="row" data-label={text.setting}>
                {setting}
              </th>
              <td class="text" data-label={text.wanted}>
                <code>{wanted}</code>
              </td>
              <td class="text" data-label={text.running}>
                <code>{running}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
