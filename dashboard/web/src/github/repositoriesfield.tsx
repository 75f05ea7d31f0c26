/** The field for a token's repositories. */
import { useState } from "preact/hooks";
import { mayCoverAll } from "../../../api/github.ts";
import { LinesField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { Group } from "../ui/form/group.tsx";
import { type Account, type ShownRepository, useRepositories } from "./account.ts";
import { paths } from "./paths.ts";
import { scopeText as text } from "./text.ts";

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
        {text.loading}
      </p>
    );
  if (found === undefined || typeof found === "string")
    return (
      <LinesField
        form={form}
        path={paths.repositories}
        label={text.repositories}
        hint={`${text.namesOfRepositories} ${hintFor(account, id)} ${found ?? ""}`}
      />
    );
  return <Picker form={form} of={found} hint={hintFor(account, id)} />;
}

/** What an empty list means, as the server decides it. */
function hintFor(account: Account, id: unknown): string {
  if (account.state === "held") return text.repositoriesOf.held;
  const installation =
    account.state === "connected" ? account.installations.find((one) => one.id === id) : undefined;
  if (account.state !== "connected" || installation === undefined) return text.repositoriesOf.unknown;
  const kind = mayCoverAll(installation, account.login) ? "own" : "other";
  return text.repositoriesOf[kind](installation.account);
}

function Picker({
  form,
  of: repositories,
  hint,
}: {
  form: Form;
  of: readonly ShownRepository[];
  hint: string;
}) {
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
      label={text.repositories}
      hint={`${hint} ${chosen.length > 0 ? text.chosen(chosen.length, repositories.length) : ""}`}
      problem={form.problem(paths.repositories)}
    >
      {repositories.length > few && (
        <input
          type="search"
          aria-label={text.findLabel}
          placeholder={text.find}
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
              {isPrivate && <span class="quiet small">{text.private}</span>}
            </label>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="quiet">{text.noMatches}</p>}
    </Group>
  );
}
