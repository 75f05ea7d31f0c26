import { useRoute } from "preact-iso";
import { NewObject } from "../ui/form/object.tsx";
import { remoteSyncForm } from "./form.tsx";

/** The screen that creates a RemoteSync, for the Application in `?application=`. */
export function NewRemoteSync() {
  const { application } = useRoute().query;
  return (
    <NewObject
      kind={remoteSyncForm}
      title="Build a repository"
      spec={application ? { applicationRef: { name: application } } : {}}
    />
  );
}
