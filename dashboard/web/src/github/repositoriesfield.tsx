/** The field for a token's repositories. */
import { useState } from "preact/hooks";
import { LinesField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { Group } from "../ui/form/group.tsx";
import { type Account, type ShownRepository, useRepositories } from "./account.ts";
import { paths } from "./paths.ts";

const label = "Repositories";
const all = "If empty, the token covers all repositories of the installation.";

/** Lists up to this length need no filter. */
const few = 8;

/** A choice of the repositories that GitHub shows, or an input for names if it shows none. */
export function RepositoriesField({ form, account }: { form: Form; account: Account }) {
  const id = form.value(paths.installationID);
  const found = useRepositories(account.state === "connected" && typeof id === "number" ? id : undefined);
  if (account.state === "connected" && typeof id !== "number") return null;
  if (account.state === "connected" && found === undefined)
    return (
      <p role="status" class="quiet">
        Loading repositories from GitHub…
      </p>
    );
  if (found === undefined || typeof found === "string")
    return (
      <LinesField
        form={form}
        path={paths.repositories}
        label={label}
        hint={`One name per line, without the owner. ${all} ${found ?? ""}`}
      />
    );
  return <Picker form={form} of={found} />;
}

function Picker({ form, of: repositories }: { form: Form; of: readonly ShownRepository[] }) {
  const [part, setPart] = useState("");
  const chosen = (form.value(paths.repositories) ?? []) as readonly string[];
  const shown = repositories.filter(
    ({ name }) => chosen.includes(name) || name.toLowerCase().includes(part.toLowerCase()),
  );
  const choose = (name: string, state: "chosen" | "not") => {
    const others = chosen.filter((one) => one !== name);
    const next = state === "chosen" ? [...others, name] : others;
    form.set(paths.repositories, next.length > 0 ? next : undefined);
  };
  return (
    <Group
      label={label}
      hint={`${all} ${chosen.length > 0 ? `${chosen.length} of ${repositories.length} chosen.` : ""}`}
      problem={form.problem(paths.repositories)}
    >
      {repositories.length > few && (
        <input
          type="search"
          aria-label="Find a repository by name"
          placeholder="Find by name"
          value={part}
          onInput={({ currentTarget }) => setPart(currentTarget.value)}
        />
      )}
      <ul class="plain choices">
        {shown.map(({ id, name, fullName, private: isPrivate }) => (
          <li key={id}>
            <label class="row">
              <input
                type="checkbox"
                checked={chosen.includes(name)}
                onChange={({ currentTarget: { checked } }) => choose(name, checked ? "chosen" : "not")}
              />
              <span>
                <span class="quiet">{fullName.slice(0, -name.length)}</span>
                {name}
              </span>
              {isPrivate && <span class="quiet small">private</span>}
            </label>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="quiet">No matches.</p>}
    </Group>
  );
}
