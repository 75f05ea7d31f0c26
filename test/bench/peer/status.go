package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// report sets the same status as the function on Denrei, so that the API server handles the same objects.
func (h *Hikawa) report(said int, kiyoshied bool) {
	h.Status.NumZundokosSaid, h.Status.Kiyoshied, h.Status.ObservedGeneration = said, kiyoshied, h.Generation
	ready, progressing, reason, message := metav1.ConditionFalse, metav1.ConditionTrue, "Singing", fmt.Sprintf("%d words so far", said)
	if kiyoshied {
		ready, progressing, reason, message = metav1.ConditionTrue, metav1.ConditionFalse, "Kiyoshied", fmt.Sprintf("Kiyoshi! after %d words", said)
	}
	for _, condition := range []metav1.Condition{{Type: "Ready", Status: ready}, {Type: "Progressing", Status: progressing}} {
		condition.Reason, condition.Message, condition.ObservedGeneration = reason, message, h.Generation
		meta.SetStatusCondition(&h.Status.Conditions, condition)
	}
}
