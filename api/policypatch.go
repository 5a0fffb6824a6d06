package api

import (
	"maps"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/policies"
)

// mediaTypeMergePatch is that of RFC 7396.
const mediaTypeMergePatch = "application/merge-patch+json"

// patchPolicy edits a policy in part. Without one it makes one of the patch alone,
// so that a type can be paused that has none.
func (h policyHandlers) patchPolicy(c echo.Context) error {
	return h.changePolicy(c, func(businessType string) (policies.Change, error) {
		patch, err := readObject(c, mediaTypeMergePatch)
		if err != nil {
			return policies.Change{}, err
		}
		return readPatch(patch, businessType, h.reach)
	})
}

// readPatch reads a merge patch. What is wrong with the patch itself is refused at
// once; what is wrong with the policy that it makes is known when it is applied.
func readPatch(o object, businessType string, reach delivery.Reach) (change policies.Change, err error) {
	errs := o.unknown(reflect.TypeFor[policyBody]())
	if len(o) == 0 {
		errs.Add("", wire.CodeRequired, "name at least one field to change")
	}
	if err := errs.Err(); err != nil {
		return change, err
	}
	return policies.Change{
		Policy: policy.Policy{BusinessType: businessType},
		Edit: func(stored policy.Policy) (policies.Change, error) {
			document, err := parseObject(stored.Document())
			if err != nil {
				return policies.Change{}, err
			}
			edited, err := readPolicy(merge(document, o, policyDepth), businessType, reach, stored)
			_, named := o["signing_secrets"] // null takes them away
			edited.KeepSecrets = !named
			return edited, err
		},
	}, nil
}

// merge applies a merge patch (RFC 7396): null removes, an object is merged, and
// anything else takes the place of what was there. Below depth nothing of a policy is an
// object, and what a patch has there is refused as it stands.
func merge(target, patch object, depth int) object {
	merged := object{}
	maps.Copy(merged, target)
	for name, value := range patch {
		switch kind := value.Kind(); {
		case kind == 'n':
			delete(merged, name)
		case kind == '{' && depth > 1:
			merged[name] = encode(merge(merged.object(name), patch.object(name), depth-1))
		default:
			merged[name] = value
		}
	}
	return merged
}

func encode(members object) jsontext.Value {
	text, _ := json.Marshal(members) // its values were read from JSON
	return text
}

// unknown names the members that a body of a type does not have, also those that are
// null: a patch that removes a field which does not exist was misspelt.
func (o object) unknown(body reflect.Type) (errs wire.FieldErrors) {
	fields := fieldsOf(reflect.New(body).Elem())
	for _, name := range slices.Sorted(maps.Keys(o)) {
		field, known := fields[name]
		if !known {
			errs.Add(pointerTo(name), wire.CodeUnknownField, "is not a field of this call")
			continue
		}
		within := field.Type()
		if within.Kind() == reflect.Pointer {
			within = within.Elem()
		}
		if within.Kind() == reflect.Struct && o[name].Kind() == '{' {
			errs.Under(pointerTo(name), o.object(name).unknown(within))
		}
	}
	return errs
}
