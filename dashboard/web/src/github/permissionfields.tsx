/** The fields for a token's permissions. */
import { ChoiceField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { Group } from "../ui/form/group.tsx";
import { paths } from "./paths.ts";
import { scopeText as text } from "./text.ts";

/** The permissions that builds, previews, and reports need; kubectl can set others. */
const permissions = Object.entries(text.permissionNames);

const choices = [
  ["", text.none],
  ["read", text.read],
  ["write", text.write],
] as const;

/** One field for each permission. */
export function PermissionFields({ form }: { form: Form }) {
  return (
    <Group label={text.permissions} hint={text.permissionsHint}>
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
