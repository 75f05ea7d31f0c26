/** The permissions and events of a new App. */
import { appEvents, appPermissions } from "../../../api/githubapp.ts";
import { newAppText as text } from "./text.ts";

export function AppPermissions({ hasWebhooks }: { hasWebhooks: boolean }) {
  const rows = Object.entries(appPermissions) as [keyof typeof appPermissions, string][];
  return (
    <section aria-labelledby="app-permissions">
      <h2 id="app-permissions">{text.permissionsTitle}</h2>
      <dl class="facts">
        {rows.map(([name, level]) => (
          <div key={name} class="fact">
            <dt>
              <code>
                {name}: {level}
              </code>
            </dt>
            <dd>{text.permissions[name]}</dd>
          </div>
        ))}
        <div class="fact">
          <dt>{text.events}</dt>
          <dd>{hasWebhooks ? <code>{appEvents.join(", ")}</code> : text.noEvents}</dd>
        </div>
      </dl>
    </section>
  );
}
