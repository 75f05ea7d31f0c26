/** What an Application asks for, compared with what runs. */
import type { Application } from "@denrei/functions/paas/kinds";
import type { Stored } from "denrei/kinds";
import type { PodObject } from "../api/kubernetes.ts";
import { ImageName } from "../ui/imagename.tsx";
import { Status } from "../ui/status.tsx";
import type { Child } from "./children.ts";
import { type Difference, driftOf } from "./drift.ts";
import { driftText as text } from "./text.ts";

/** A card with the state in a sentence, and a table of the settings that differ. */
export function Differences({
  app,
  objects,
  pods,
}: {
  app: Stored<Application>;
  objects: readonly Child[];
  pods: readonly Stored<PodObject>[];
}) {
  const { tone, sentence, differences } = driftOf(app, objects, pods);
  const { pinnedImage } = app.spec;
  return (
    <section class="card" aria-labelledby="differences">
      <header>
        <h2 id="differences">{text.title}</h2>
        <Status tone={tone}>{text.states[tone]}</Status>
      </header>
      <p>{sentence}</p>
      {pinnedImage !== undefined && (
        <p>
          {text.pinned} <ImageName of={pinnedImage} />
        </p>
      )}
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
