/**
 * Answers conversion reviews of the API server.
 * https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-request-and-response
 */
import { z } from "zod";
import { ConversionError, convertObject } from "../kube/conversion/convert.ts";
import { type Kind, kindText } from "../kube/kind.ts";
import { groupOf, type KubeObject } from "../kube/object.ts";
import type { ReviewAnswer } from "./answer.ts";
import { MalformedReviewError } from "./malformed.ts";

const conversionReview = z.object({
  apiVersion: z.literal("apiextensions.k8s.io/v1"),
  kind: z.literal("ConversionReview"),
  request: z.object({
    uid: z.string(),
    desiredAPIVersion: z.string(),
    objects: z.array(z.looseObject({ apiVersion: z.string(), kind: z.string() })),
  }),
});

/**
 * Converts all objects of a review. If one of them fails, the answer is a failure that names it. Throws a
 * {@link MalformedReviewError} for anything else than a review.
 */
export function answerConversion(kinds: readonly Kind[], body: unknown): ReviewAnswer {
  const parsed = conversionReview.safeParse(body);
  if (!parsed.success)
    throw new MalformedReviewError("expected a ConversionReview of apiextensions.k8s.io/v1", parsed.error);
  const { uid, desiredAPIVersion, objects } = parsed.data.request;
  const answer = (response: object) => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "ConversionReview",
    response: { uid, ...response },
  });
  try {
    const convertedObjects = objects.map((object) =>
      convert(kinds, object as unknown as KubeObject, desiredAPIVersion),
    );
    return { review: answer({ result: { status: "Success" }, convertedObjects }), outcome: "converted" };
  } catch (error) {
    const { message } = error as Error;
    return { review: answer({ result: { status: "Failure", message } }), outcome: "failed", message };
  }
}

function convert(kinds: readonly Kind[], object: KubeObject, desiredAPIVersion: string): KubeObject {
  const group = groupOf(object.apiVersion);
  const kind = kinds.find((one) => one.kind === object.kind && one.group === group);
  if (kind === undefined)
    throw new ConversionError(
      `this program does not define ${kindText({ kind: object.kind, group })}: deploy the version that does`,
    );
  return convertObject(kind, object, desiredAPIVersion.slice(groupOf(desiredAPIVersion).length + 1));
}
