/**
 * The metrics of prometheus-nats-exporter with `-use_internal_server_name -healthz -varz -jsz all` that rules and dashboard use:
 * https://github.com/nats-io/prometheus-nats-exporter/tree/main/collector (`jsz.go`, `healthz.go`; each number of `varz` is
 * `gnatsd_varz_<field>`).
 */
export const exported: readonly string[] = [
  "gnatsd_healthz_status",
  // For an unreachable server, the exporter serves only this metric, as 0 with `value="unreachable"`, and not the one above.
  "gnatsd_healthz_status_value",
  "gnatsd_varz_mem",
  "gnatsd_varz_slow_consumers",
  "jetstream_server_total_message_bytes",
  "jetstream_server_max_storage",
  "jetstream_stream_total_bytes",
  "jetstream_stream_total_messages",
  "jetstream_consumer_num_pending",
];
