/** The form of a RemoteSync. */
import { useEffect, useState } from "preact/hooks";
import { z } from "zod";
import type { KubeObject } from "../../../../bus/kube/object.ts";
import { RemoteSync } from "../../../../functions/paas/kinds/remotesync.ts";
import { listOf } from "../api/objects.ts";
import { applications, remoteSyncs } from "../api/resource.ts";
import { RadioField } from "../ui/form/choices.tsx";
import { type Path, valueAt, withValueAt } from "../ui/form/draft.ts";
import { EnvField } from "../ui/form/env.tsx";
import { ChoiceField, NumberField, TextField } from "../ui/form/field.tsx";
import type { Form } from "../ui/form/form.ts";
import type { Draft, ObjectForm } from "../ui/form/object.tsx";
import { namespace } from "../ui/namespace.tsx";

const github: Path = ["spec", "base", "github"];

const sources = [
  ["default", "The default branch"],
  ["branch", "A branch"],
  ["pullRequest", "A pull request"],
  ["sha", "A commit"],
] as const;
type Source = (typeof sources)[number][0];

const expectations = {
  branch: "expected the name of a branch",
  pullRequest: "expected the number of a pull request",
  sha: "expected a whole commit id of 40 hexadecimal digits",
} as const;

/** What is chosen and left empty would be the default branch. */
function schemaOfDraft(): z.ZodType {
  const shape = { source: z.enum(sources.map(([source]) => source)) };
  const spec = RemoteSync.definition?.spec ?? z.object();
  let schema = z.object({ ...shape, spec });
  for (const [source, error] of Object.entries(expectations)) {
    const isGiven = (draft: unknown) =>
      valueAt(draft, ["source"]) !== source || valueAt(draft, [...github, source]) !== undefined;
    schema = schema.refine(isGiven, { path: [...github, source], error, when: () => true });
  }
  return schema;
}

/** The same draft with another source: what was typed for the one before is not sent. */
function withSource(draft: unknown, source: Source): unknown {
  const bare = Object.keys(expectations).reduce<unknown>(
    (left, name) => withValueAt(left, [...github, name], undefined),
    draft,
  );
  return withValueAt(bare, ["source"], source);
}

const sourceOf = (spec: object): Source =>
  (Object.keys(expectations) as Source[]).find((name) => valueAt({ spec }, [...github, name])) ?? "default";

/** What the forms of RemoteSyncs are made of. */
export const remoteSyncForm: ObjectForm<RemoteSync> = {
  resource: remoteSyncs,
  place: ["/builds", "Builds"],
  schema: schemaOfDraft(),
  skeleton: { spec: { applicationRef: {}, base: { github: {} }, image: {} } },
  fields: [["source"], ["spec", "applicationRef", "name"], ...fieldsOf()],
  draftOf: (spec) => ({ source: sourceOf(spec), spec }),
  specOf: ({ spec = {} }: Draft) => spec,
  content: (form) => <Fields form={form} />,
};

function fieldsOf(): Path[] {
  return [
    ...["owner", "repo", "branch", "pullRequest", "sha", "secretName"].map((name) => [...github, name]),
    ["spec", "base", "subPath"],
    ["spec", "image", "name"],
    ["spec", "image", "secretName"],
    ["spec", "revision"],
    ["spec", "build", "env"],
    ["spec", "build", "timeoutSeconds"],
  ];
}

function Fields({ form }: { form: Form }) {
  const field = (...path: string[]) => ({ form, path: ["spec", ...path] });
  const of = (name: string) => field("base", "github", name);
  const source = form.value(["source"]);
  return (
    <>
      <ApplicationField form={form} />
      <TextField {...of("owner")} label="Owner of the repository" placeholder="acme" />
      <TextField {...of("repo")} label="Repository" placeholder="web" hint="Its name, without the owner." />
      <RadioField
        form={form}
        path={["source"]}
        label="What of it"
        choices={sources}
        choose={(chosen) => form.set([], withSource(form.value([]), chosen))}
      />
      {source === "branch" && <TextField {...of("branch")} label="Branch" placeholder="main" />}
      {source === "pullRequest" && (
        <>
          <NumberField {...of("pullRequest")} label="Number of the pull request" min={1} />
          <ChoiceField
            {...field("revision")}
            label="Which commit of it"
            choices={[
              ["", "What comes of merging it now (the default)"],
              ["Merge", "What comes of merging it now"],
              ["Head", "Its last commit"],
            ]}
          />
        </>
      )}
      {source === "sha" && (
        <TextField
          {...of("sha")}
          label="Commit"
          placeholder="0123456789abcdef0123456789abcdef01234567"
          hint="The whole id: 40 hexadecimal digits."
        />
      )}
      <TextField
        {...of("secretName")}
        label="Secret with the token of GitHub"
        hint="As an Installation with the format basic-auth keeps it, annotated with kpack.io/git."
      />
      <TextField
        {...field("image", "name")}
        label="Where the images go"
        placeholder="registry.example.com/acme/web"
        hint="A repository of a registry, without a tag."
      />
      <TextField
        {...field("image", "secretName")}
        label="Secret with the credentials of the registry"
        hint="To push and to pull. None where the registry asks for none."
      />
      <TextField
        {...field("base", "subPath")}
        label="Folder of the repository"
        placeholder="services/web"
        hint="The whole repository unless given."
      />
      <EnvField {...field("build", "env")} label="Environment variables of the build" from="values" />
      <NumberField
        {...field("build", "timeoutSeconds")}
        label="How long a build may take, in seconds"
        min={1}
      />
    </>
  );
}

/** Whoever may not list Applications can still name one. */
function ApplicationField({ form }: { form: Form }) {
  const [found, setFound] = useState<readonly KubeObject[]>([]);
  const within = form.value(["metadata", "namespace"]) ?? namespace.value;
  useEffect(() => {
    listOf(applications, { namespace: namespace.value || undefined }).then(setFound, () => undefined);
  }, []);
  return (
    <TextField
      form={form}
      path={["spec", "applicationRef", "name"]}
      label="Application"
      placeholder="web"
      hint="The one that gets the image. It is in the same namespace."
      suggestions={found
        .filter(({ metadata }) => metadata.namespace === within)
        .map(({ metadata }) => metadata.name)}
    />
  );
}
