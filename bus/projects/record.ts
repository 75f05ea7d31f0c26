/**
 * What a project needs on the bus. Each project has a record there, which its bridge writes. Projects that share a bus publish what
 * all of them need: bridges by the union of the kinds' published content, gateways by the union of the selected fields.
 */
import { z } from "zod";
import { apiVersionOf, type Kind } from "../kube/kind.ts";
import { bridgeSubject, token } from "../subjects.ts";
import type { SelectedEvent, SelectionSchema } from "../webhooks/sharedselection.ts";

const kindSchema = z.object({
  group: z.string(),
  kind: z.string(),
  version: z.string(),
  publish: z.enum(["object", "metadata"]),
  /** Undefined: all. */
  fields: z.array(z.string()).optional(),
});

const recordSchema = z.object({
  project: z.string(),
  kinds: z.array(kindSchema),
  /** Annotations to publish for kinds of which only the metadata is published. */
  annotations: z.array(z.string()),
  webhooks: z.array(
    z.object({
      provider: z.string(),
      event: z.string(),
      select: z.custom<SelectionSchema>((value) => typeof value === "object" && value !== null),
    }),
  ),
});

/** The record of a project in one cluster. */
export type ProjectRecord = z.infer<typeof recordSchema>;

/** A kind that a project needs. */
export type NeededKind = ProjectRecord["kinds"][number];

/** Key of a project's record in the bridges' bucket. */
export const recordKey = (cluster: string, project: string): string =>
  `project.${token(cluster)}.${token(project)}`;

/** Subjects of the records of all projects, in one cluster or in all of them. */
export const recordSubjects = (cluster?: string): string =>
  bridgeSubject(`project.${cluster === undefined ? "*" : token(cluster)}.*`);

/** What a project consists of. */
export interface ProjectContent {
  readonly kinds: readonly Kind[];
  readonly annotations: Iterable<string>;
  readonly webhooks: readonly SelectedEvent[];
}

/** The record of a project. Equal content has an equal record. */
export function recordOf(project: string, { kinds, annotations, webhooks }: ProjectContent): ProjectRecord {
  const needed = kinds.map(({ group, kind, version, publish, fields }) => ({
    ...{ group, kind, version, publish },
    ...(fields && { fields: [...fields] }),
  }));
  needed.sort((a, b) => (textOf(a) < textOf(b) ? -1 : 1));
  return { project, kinds: needed, annotations: [...annotations].sort(), webhooks: [...webhooks] };
}

const textOf = (kind: Pick<NeededKind, "group" | "version" | "kind">): string =>
  `${apiVersionOf(kind)} ${kind.kind}`;

/** Parses a record. Returns undefined for a deleted or invalid one. */
export function parseRecord(text: string): ProjectRecord | undefined {
  try {
    return recordSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
