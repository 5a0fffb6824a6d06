package policies

import (
	"maps"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"github.com/wakecall/wakecall/api/decode"
	"github.com/wakecall/wakecall/api/requests"
	"github.com/wakecall/wakecall/core/delivery"
	"github.com/wakecall/wakecall/core/policy"
	"github.com/wakecall/wakecall/core/wire"
	"github.com/wakecall/wakecall/engine/policies"
)

// policyDepth is how deep objects stand in a policy: the headers of a callback are in the
// callback of the policy.
const policyDepth = 3

// mediaTypeMergePatch is the media type of RFC 7396.
const mediaTypeMergePatch = "application/merge-patch+json"

// patchPolicy edits a policy in part. Without one it makes one of the patch alone,
// so that a type can be paused that has none.
func (h handlers) patchPolicy(c echo.Context) error {
	return h.changePolicy(c, func(businessType string) (policies.Change, error) {
		patch, err := requests.ReadObject(c, mediaTypeMergePatch)
		if err != nil {
			return policies.Change{}, err
		}
		return ReadPatch(patch, businessType, h.reach)
	})
}

// ReadPatch reads a merge patch. What is wrong with the patch itself is refused at
// once; what is wrong with the policy that it makes is known when it is applied.
func ReadPatch(o decode.Object, businessType string, reach delivery.Reach) (change policies.Change, err error) {
	errs := o.Unknown(reflect.TypeFor[Body]())
	if len(o) == 0 {
		errs.Add("", wire.CodeRequired, "name at least one field to change")
	}
	if err := errs.Err(); err != nil {
		return change, err
	}
	return policies.Change{
		Policy: policy.Policy{BusinessType: businessType},
		Edit: func(stored policy.Policy) (policies.Change, error) {
			document, err := decode.Parse(stored.Document())
			if err != nil {
				return policies.Change{}, err
			}
			edited, err := Read(merge(document, o, policyDepth), businessType, reach, stored)
			_, named := o["signing_secrets"] // null takes them away
			edited.KeepSecrets = !named
			return edited, err
		},
	}, nil
}

// merge applies a merge patch (RFC 7396): null removes, an object is merged, and
// anything else takes the place of what was there. Below depth nothing of a policy is an
// object, and what a patch has there is refused as it stands.
func merge(target, patch decode.Object, depth int) decode.Object {
	merged := decode.Object{}
	maps.Copy(merged, target)
	for name, value := range patch {
		switch kind := value.Kind(); {
		case kind == 'n':
			delete(merged, name)
		case kind == '{' && depth > 1:
			merged[name] = encode(merge(merged.Nested(name), patch.Nested(name), depth-1))
		default:
			merged[name] = value
		}
	}
	return merged
}

func encode(members decode.Object) jsontext.Value {
	text, _ := json.Marshal(members) // its values were read from JSON
	return text
}
