/** Mongo: the datastore of control planes up to v0.12.0. */
import { Mongo } from "./kinds.ts";
import { storeImage } from "./profile.ts";
import { storeFunction } from "./stores/storefunction.ts";

const port = 27017;

export default storeFunction({
  name: "pipecd-mongo",
  kind: Mongo,
  component: "mongo",
  secretKeys: [],
  program: ({ spec }) => ({
    image: storeImage("mongo", spec.version),
    port,
    dataPath: "/data/db",
    readinessProbe: { tcpSocket: { port } },
  }),
});
