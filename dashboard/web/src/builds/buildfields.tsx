/** The build fields that the forms of RemoteSyncs and AppPipelines share. */
import type { Path } from "../ui/form/draft.ts";
import { ChoiceField, NumberField, TextField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import { PairsField } from "../ui/form/pairs.tsx";
import { fieldText as text } from "./text.ts";

const builder: Path = ["spec", "builder"];
const builderKind: Path = [...builder, "kind"];
const build: Path = ["spec", "build"];

/** Paths of the shown fields. */
export const shownBuildFields: readonly Path[] = [
  builder,
  ...["resources", "cacheSize", "timeoutSeconds"].map((name) => [...build, name]),
];

/** Which commit of a pull request is built. */
export const commitsOfPullRequest = Object.entries(text.commits);

/** The fields for the image repository. */
export function ImageFields({ form }: { form: Form }) {
  const field = (name: string) => ({ form, path: ["spec", "image", name] });
  return (
    <>
      <TextField
        {...field("name")}
        label={text.image}
        placeholder={text.imageExample}
        hint={text.imageHint}
      />
      <TextField {...field("secretName")} label={text.imageSecret} hint={text.imageSecretHint} />
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
        label={text.builder}
        hint={text.builderHint}
        choices={Object.entries(text.builders)}
        choose={(kind) => form.set(builder, kind && { ...(form.value(builder) as object | undefined), kind })}
      />
      {form.value(builderKind) !== undefined && (
        <TextField
          form={form}
          path={[...builder, "name"]}
          label={text.builderName}
          placeholder={text.builderExample}
        />
      )}
      <PairsField {...field("resources", "requests")} label={text.requests} hint={text.requestsHint} />
      <PairsField {...field("resources", "limits")} label={text.limits} hint={text.limitsHint} />
      <TextField
        {...field("cacheSize")}
        label={text.cache}
        placeholder={text.cacheExample}
        hint={text.cacheHint}
      />
      <NumberField {...field("timeoutSeconds")} label={text.timeout} min={1} />
    </>
  );
}
