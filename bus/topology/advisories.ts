/** Advisories of JetStream. */
import { consumers, type QueueScope, workStream } from "../subjects.ts";

/**
 * Subjects on which JetStream announces changes of streams and consumers; `*` for any. In no stream.
 * https://docs.nats.io/running-a-nats-service/nats_admin/monitoring/monitoring_jetstream#monitoring-advisories
 */
export const advisories = {
  streamDeleted: (stream: string) => `$JS.EVENT.ADVISORY.STREAM.DELETED.${stream}`,
  streamUpdated: (stream: string) => `$JS.EVENT.ADVISORY.STREAM.UPDATED.${stream}`,
  consumerDeleted: (stream: string, consumer: string) =>
    `$JS.EVENT.ADVISORY.CONSUMER.DELETED.${stream}.${consumer}`,
  consumerPaused: (stream: string, consumer: string) =>
    `$JS.EVENT.ADVISORY.CONSUMER.PAUSE.${stream}.${consumer}`,
} as const;

/** Advisories after which a bridge checks the topology. */
export const topologyAdvisories: readonly string[] = [
  advisories.streamDeleted("*"),
  advisories.streamUpdated("*"),
  advisories.consumerDeleted("*", "*"),
  advisories.consumerPaused("*", "*"),
];

/** Advisories after which the owner of a ticket is unknown. */
export const ticketAdvisories = (scope: QueueScope): readonly string[] => [
  advisories.streamDeleted(workStream(scope.fn)),
  advisories.consumerDeleted(workStream(scope.fn), consumers.worker(scope)),
];
