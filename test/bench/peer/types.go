package main

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const group = "zundokokiyoshi.kaitoy.github.com"

// newScheme has no KiyoshiList: Kiyoshis are only created, never listed or cached.
func newScheme() *runtime.Scheme {
	gv := schema.GroupVersion{Group: group, Version: "v1beta1"}
	s := runtime.NewScheme()
	s.AddKnownTypes(gv, &Hikawa{}, &HikawaList{}, &Zundoko{}, &ZundokoList{}, &Kiyoshi{})
	metav1.AddToGroupVersion(s, gv)
	return s
}

type Hikawa struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		IntervalMillis int  `json:"intervalMillis"`
		NumZundokos    int  `json:"numZundokos,omitempty"`
		SayKiyoshi     bool `json:"sayKiyoshi,omitempty"`
	} `json:"spec"`
	Status struct {
		NumZundokosSaid    int                `json:"numZundokosSaid,omitempty"`
		Kiyoshied          bool               `json:"kiyoshied,omitempty"`
		ObservedGeneration int64              `json:"observedGeneration,omitempty"`
		Conditions         []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status,omitzero"`
}

type HikawaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Hikawa `json:"items"`
}

type Zundoko struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              SaySpec `json:"spec"`
}

type SaySpec struct {
	Say string `json:"say"`
}

type ZundokoList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Zundoko `json:"items"`
}

type Kiyoshi Zundoko // the same fields, but a separate kind, and so a separate Go type

// Only metadata and conditions need a deep copy: the other fields hold plain values.

func (in *Hikawa) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = slices.Clone(in.Status.Conditions)
	return &out
}

func (in *Zundoko) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

func (in *Kiyoshi) DeepCopyObject() runtime.Object {
	return (*Kiyoshi)((*Zundoko)(in).DeepCopyObject().(*Zundoko))
}

func (in *HikawaList) DeepCopyObject() runtime.Object {
	out := &HikawaList{in.TypeMeta, *in.ListMeta.DeepCopy(), nil}
	for i := range in.Items {
		out.Items = append(out.Items, *in.Items[i].DeepCopyObject().(*Hikawa))
	}
	return out
}

func (in *ZundokoList) DeepCopyObject() runtime.Object {
	out := &ZundokoList{in.TypeMeta, *in.ListMeta.DeepCopy(), nil}
	for i := range in.Items {
		out.Items = append(out.Items, *in.Items[i].DeepCopyObject().(*Zundoko))
	}
	return out
}
