/** Creating an Application. */
import { useLocation } from "preact-iso";
import { z } from "zod";
import { Application } from "../../../../functions/paas/kinds/application.ts";
import { create } from "../api/objects.ts";
import { apiVersionOf, applications } from "../api/resource.ts";
import { Send, TextField } from "../ui/form/field.tsx";
import { useForm } from "../ui/form/form.ts";
import { newMetadata } from "../ui/form/metadata.ts";
import { Head } from "../ui/head.tsx";
import { namespace } from "../ui/namespace.tsx";
import { notify } from "../ui/notices.tsx";
import { SpecFields, shownFields } from "./fields.tsx";

const schema = z.object({ metadata: newMetadata(63), spec: Application.definition?.spec ?? z.object() });

/** The screen. */
export function NewApplication() {
  const { route } = useLocation();
  const form = useForm({
    initial: { metadata: { namespace: namespace.value || undefined }, spec: { replicas: 1 } },
    schema,
    fields: [["metadata", "name"], ["metadata", "namespace"], ...shownFields],
    async send(draft) {
      const object = {
        apiVersion: apiVersionOf(applications),
        kind: applications.kind,
        ...(draft as object),
      };
      const { metadata } = await create(applications, object as Application);
      notify("good", `${metadata.name} is created.`);
      route(`/applications/${metadata.namespace}/${metadata.name}`);
    },
  });
  return (
    <>
      <Head title="Create an Application" trail={["/applications", "Applications"]} />
      <form class="card" onSubmit={form.submit} noValidate>
        <TextField form={form} path={["metadata", "name"]} label="Name" placeholder="web" />
        <TextField form={form} path={["metadata", "namespace"]} label="In the namespace" />
        <SpecFields form={form} />
        <Send form={form} label="Create">
          <a class="button" href="/applications">
            Cancel
          </a>
        </Send>
      </form>
    </>
  );
}
