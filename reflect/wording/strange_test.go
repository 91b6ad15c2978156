package wording

import (
	"slices"
	"testing"
)

func TestStrangers(t *testing.T) {
	for _, c := range []struct {
		text, evidence string
		want           []string
	}{
		{"Elsa turns nine.", "My daughter Ilse turns nine.", []string{"elsa"}},
		{"Ilse turns nine.", "My daughter Ilse turns nine.", nil},
		{"Staging runs on Envoy.", "our staging gateway runs Envoy", nil},
		{"Currently works at Lumen.", "I work at Lumen now.", nil},
		{"抄送给何山。", "都抄送给何川。", []string{"山"}},
		{"抄送给何川。", "都抄送给何川。", nil},
		{"由许愿负责。", "由许诺负责", []string{"愿"}},
		{"在宁海开了面馆。", "我在宁波开了面馆。", []string{"海"}},
		{"用户的父亲是木匠。", "我爸是木匠", nil},
		{"用户平时乘地铁通勤。", "我平时坐地铁上班", nil},
		{"用户平时爱喝乌龙茶。", "我平时喜欢喝乌龙茶", nil},
		{"用户在苏州从事古籍修复工作。", "我在苏州做古籍修复", nil},
		{"用户搬到宁波。", "我搬到宁波了。", nil},
	} {
		if got := Strangers(c.text, c.evidence); !slices.Equal(got, c.want) {
			t.Errorf("%s / %s: %q, want %q", c.text, c.evidence, got, c.want)
		}
	}
}

func TestAddedDenial(t *testing.T) {
	for _, c := range []struct {
		text, evidence string
		want           bool
	}{
		{"The user doesn't live in Oslo.", "I live in Oslo, but I don't own a car.", true},
		{"The user doesn't own a car.", "I live in Oslo, but I don't own a car.", false},
		{"The user stopped smoking in 2020.", "I quit smoking in 2020.", false},
		{"The build doesn't work with node 18.", "The build failed because node 18 lacks the flag.", false},
		{"The build never failed because of node 18.", "The build failed because of node 18.", true},
		{"The user can't eat hazelnuts.", "I'm allergic to hazelnuts.", false},
		{"The user is not allergic to hazelnuts.", "I'm allergic to hazelnuts.", true},
		{"The user has stopped using Slack.", "We got rid of Slack in spring.", false},
		{"The user has no funding from June.", "From June I'm unfunded.", false},
		{"The user isn't vegetarian and likes tea.", "I can't stand coffee and I'm vegetarian.", true},
		{"用户妻子不吃羊肉，闻到会不舒服。", "我老婆不吃羊肉，闻到就难受。", false},
		{"用户对猫毛不过敏。", "我对猫毛过敏，但是对狗毛不过敏。", true},
		{"用户女儿不能吃花生。", "她对花生过敏。", false},
		{"用户女儿对花生不过敏。", "她对花生过敏。", true},
		{"用户希望每次回答不超过两句话。", "每次回答请控制在两句话以内", false},
		{"每周二和周五不发版。", "我们每周二和周五发版。", true},
		{"用户住在12楼，没有电梯。", "我住十二楼，没电梯。", false},
	} {
		if got := AddedDenial(c.text, c.evidence); got != c.want {
			t.Errorf("%s / %s: %v", c.text, c.evidence, got)
		}
	}
}
