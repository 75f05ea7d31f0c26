/** The fields for a token's permissions. */
import { ChoiceField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { Group } from "../ui/form/group.tsx";
import { paths } from "./paths.ts";

/** The permissions that builds, previews, and reports need; kubectl can set others. */
const permissions = [
  ["contents", "Contents"],
  ["pull_requests", "Pull requests"],
  ["statuses", "Commit statuses"],
  ["deployments", "Deployments"],
  ["checks", "Checks"],
  ["packages", "Packages"],
  ["issues", "Issues"],
  ["metadata", "Metadata"],
] as const;

const choices = [
  ["", "none"],
  ["read", "read"],
  ["write", "write"],
] as const;

/** One field for each permission. */
export function PermissionFields({ form }: { form: Form }) {
  return (
    <Group
      label="Permissions"
      hint="If empty, the token has all permissions of the installation. An App can allow less."
    >
      <div class="permissions">
        {permissions.map(([name, label]) => (
          <ChoiceField
            key={name}
            form={form}
            path={[...paths.permissions, name]}
            label={label}
            choices={choices}
          />
        ))}
      </div>
    </Group>
  );
}
