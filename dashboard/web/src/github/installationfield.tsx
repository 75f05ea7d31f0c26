/** The field for the installation at GitHub. */
import { Field, NumberField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import type { Account } from "./account.ts";
import { paths } from "./paths.ts";
import { formText as text } from "./text.ts";

/** A choice of the installations that GitHub shows, or an input for an ID if it shows none. */
export function InstallationField({ form, account }: { form: Form; account: Account }) {
  const path = paths.installationID;
  if (account.state !== "connected" || account.installations.length === 0)
    return <NumberField form={form} path={path} min={1} label={text.installation} hint={hintFor(account)} />;
  return (
    <Field
      form={form}
      path={path}
      label={text.installation}
      control={(attributes) => (
        <select
          {...attributes}
          value={String(form.value(path) ?? "")}
          onChange={({ currentTarget: { value } }) =>
            // Repositories of another installation do not apply.
            form.set(["spec"], {
              ...(form.value(["spec"]) as object),
              installationID: value === "" ? undefined : Number(value),
              repositories: undefined,
            })
          }
        >
          <option value="">{text.chooseInstallation}</option>
          {account.installations.map(({ id, account: owner }) => (
            <option key={id} value={String(id)}>
              {owner} ({id})
            </option>
          ))}
        </select>
      )}
    />
  );
}

function hintFor(account: Account): string {
  if (account.state === "held") return text.installedOn(account.owner);
  return account.state === "connected" ? text.noInstallation : text.installationId;
}
