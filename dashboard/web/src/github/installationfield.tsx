/** The field for the installation at GitHub. */
import { Field, NumberField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import type { Account } from "./account.ts";
import { paths } from "./paths.ts";

const label = "GitHub installation";

/** A choice of the installations that GitHub shows, or an input for an ID if it shows none. */
export function InstallationField({ form, account }: { form: Form; account: Account }) {
  const path = paths.installationID;
  if (account.state !== "connected" || account.installations.length === 0)
    return (
      <NumberField
        form={form}
        path={path}
        min={1}
        label={label}
        hint={
          account.state === "connected"
            ? "You have no installation of the App. Install it for one of your accounts first."
            : "The ID: the number at the end of the address of the installation's settings."
        }
      />
    );
  return (
    <Field
      form={form}
      path={path}
      label={label}
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
          <option value="">Choose one</option>
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
