/** What a token may do. */
import { ChoiceField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { Group } from "../ui/form/group.tsx";
import { paths } from "./paths.ts";

/** Those that builds, previews and their reports need; others can be named with kubectl. */
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
  ["", "not at all"],
  ["read", "read"],
  ["write", "write"],
] as const;

/** One field for each permission. */
export function PermissionFields({ form }: { form: Form }) {
  return (
    <Group
      label="Permissions"
      hint="What the token may do. Without any, all that the installation may. An App can allow less."
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
