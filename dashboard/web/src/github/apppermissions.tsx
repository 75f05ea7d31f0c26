/** The permissions and events of a new App. */
import { appEvents, appPermissions } from "../../../api/githubapp.ts";
import { newAppText as text } from "./text.ts";

export function AppPermissions({ hasWebhooks }: { hasWebhooks: boolean }) {
  const rows = Object.entries(appPermissions) as [keyof typeof appPermissions, string][];
  return (
    <section class="stack" aria-labelledby="app-permissions">
      <h2 id="app-permissions">{text.permissionsTitle}</h2>
      <ul class="plain">
        {rows.map(([name, level]) => (
          <li key={name}>
            <code>
              {name}: {level}
            </code>{" "}
            {text.permissions[name]}
          </li>
        ))}
      </ul>
      <p>
        {text.events} {hasWebhooks ? <code>{appEvents.join(", ")}</code> : text.noEvents}
      </p>
    </section>
  );
}
