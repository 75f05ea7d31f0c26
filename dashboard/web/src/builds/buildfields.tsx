/** The build fields that the forms of RemoteSyncs and AppPipelines share. */
import type { Path } from "../ui/form/draft.ts";
import { ChoiceField, NumberField, TextField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { PairsField } from "../ui/form/pairs.tsx";

const builder: Path = ["spec", "builder"];
const builderKind: Path = [...builder, "kind"];
const build: Path = ["spec", "build"];

/** Paths of the shown fields. */
export const shownBuildFields: readonly Path[] = [
  builder,
  ...["resources", "cacheSize", "timeoutSeconds"].map((name) => [...build, name]),
];

/** Which commit of a pull request is built. */
export const commitsOfPullRequest = [
  ["", "The result of merging it now (default)"],
  ["Merge", "The result of merging it now"],
  ["Head", "Its last commit"],
] as const;

/** The fields for the image repository. */
export function ImageFields({ form }: { form: Form }) {
  const field = (name: string) => ({ form, path: ["spec", "image", name] });
  return (
    <>
      <TextField
        {...field("name")}
        label="Image repository"
        placeholder="registry.example.com/acme/web"
        hint="A repository in a registry, without a tag."
      />
      <TextField
        {...field("secretName")}
        label="Registry credentials Secret"
        hint="Used to push and pull. Leave empty if the registry needs no credentials."
      />
    </>
  );
}

/** All other build fields except the variables. */
export function BuildFields({ form }: { form: Form }) {
  const field = (...path: string[]) => ({ form, path: [...build, ...path] });
  return (
    <>
      <ChoiceField
        form={form}
        path={builderKind}
        label="Builder"
        hint="The kpack builder that turns sources into images."
        choices={[
          ["", "The site's builder (default)"],
          ["ClusterBuilder", "ClusterBuilder (cluster-wide)"],
          ["Builder", "Builder (this namespace)"],
        ]}
        choose={(kind) => form.set(builder, kind && { ...(form.value(builder) as object | undefined), kind })}
      />
      {form.value(builderKind) !== undefined && (
        <TextField form={form} path={[...builder, "name"]} label="Builder name" placeholder="default" />
      )}
      <PairsField
        {...field("resources", "requests")}
        label="Build resource requests"
        hint="cpu: 100m, memory: 512Mi"
      />
      <PairsField {...field("resources", "limits")} label="Build resource limits" hint="memory: 2Gi" />
      <TextField
        {...field("cacheSize")}
        label="Build cache size"
        placeholder="2G"
        hint="Size of the volume that builds share as a cache. kpack decides if empty."
      />
      <NumberField {...field("timeoutSeconds")} label="Build timeout in seconds" min={1} />
    </>
  );
}
