/** How images are built, which RemoteSyncs and AppPipelines say alike. */
import type { Path } from "../ui/form/draft.ts";
import { ChoiceField, NumberField, TextField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { PairsField } from "../ui/form/pairs.tsx";

const builder: Path = ["spec", "builder"];
const builderKind: Path = [...builder, "kind"];
const build: Path = ["spec", "build"];

/** Paths of what is shown. */
export const shownBuildFields: readonly Path[] = [
  builder,
  ...["resources", "cacheSize", "timeoutSeconds"].map((name) => [...build, name]),
];

/** What of a pull request is built. */
export const commitsOfPullRequest = [
  ["", "What comes of merging it now (the default)"],
  ["Merge", "What comes of merging it now"],
  ["Head", "Its last commit"],
] as const;

/** Where the images go. */
export function ImageFields({ form }: { form: Form }) {
  const field = (name: string) => ({ form, path: ["spec", "image", name] });
  return (
    <>
      <TextField
        {...field("name")}
        label="Where the images go"
        placeholder="registry.example.com/acme/web"
        hint="A repository of a registry, without a tag."
      />
      <TextField
        {...field("secretName")}
        label="Secret with the credentials of the registry"
        hint="To push and to pull. None where the registry asks for none."
      />
    </>
  );
}

/** The fields, but for the variables of the build. */
export function BuildFields({ form }: { form: Form }) {
  const field = (...path: string[]) => ({ form, path: [...build, ...path] });
  return (
    <>
      <ChoiceField
        form={form}
        path={builderKind}
        label="Builder"
        hint="What of kpack makes images of sources."
        choices={[
          ["", "That of this site (the default)"],
          ["ClusterBuilder", "ClusterBuilder, of the whole cluster"],
          ["Builder", "Builder, of this namespace"],
        ]}
        choose={(kind) => form.set(builder, kind && { ...(form.value(builder) as object | undefined), kind })}
      />
      {form.value(builderKind) !== undefined && (
        <TextField
          form={form}
          path={[...builder, "name"]}
          label="Name of the builder"
          placeholder="default"
        />
      )}
      <PairsField
        {...field("resources", "requests")}
        label="Resources that a build asks for"
        hint="cpu: 100m, memory: 512Mi"
      />
      <PairsField {...field("resources", "limits")} label="Most that a build gets" hint="memory: 2Gi" />
      <TextField
        {...field("cacheSize")}
        label="Size of the build's cache"
        placeholder="2G"
        hint="Of the volume with what builds keep for the next one. kpack decides unless given."
      />
      <NumberField {...field("timeoutSeconds")} label="How long a build may take, in seconds" min={1} />
    </>
  );
}
